import * as fc from 'fast-check';
import { PROPERTIES } from '../element/element-properties.ts';
import { fakeWorld } from '../element/fake-world.ts';
import { lives } from '../element/plugin-editor-life.ts';

const properties = { ...PROPERTIES, 'a life of <plugin-editor>, on a model': lives(fakeWorld) };

describe('properties of the elements', () => {
  before(() => {
    // Some editors are on this page's own origin, which is warned about.
    console.warn = () => {};
  });
  for (const [name, property] of Object.entries(properties)) {
    it(name, () =>
      fc.assert(property as fc.IAsyncProperty<unknown>, { numRuns: 10_000, includeErrorInReport: true }),
    );
  }
});
