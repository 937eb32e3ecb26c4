import * as fc from 'fast-check';
import { PROPERTIES } from '../element/element-properties.ts';
import { fakeWorld } from '../element/fake-world.ts';
import { type Tally, lives } from '../element/plugin-editor-life.ts';

const tally: Tally = { lives: 0, ready: 0 };
const properties = { ...PROPERTIES, 'a life of <plugin-editor>, on a model': lives(fakeWorld, tally) };

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
  it('a life is seldom without an editor that is ready', () => {
    if (!(tally.ready >= tally.lives / 5)) {
      throw new Error(`${tally.ready} of ${tally.lives} lives had an editor that said it was ready`);
    }
  });
});
