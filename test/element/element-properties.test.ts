import * as fc from 'fast-check';
import { PROPERTIES } from './element-properties.ts';

// The same each time, so that a change is judged by what it changes; `npm run soak properties` tries many others.
describe('properties of the elements', () => {
  const { warn } = console;
  before(() => {
    // Some editors are on this page's own origin, which is warned about.
    console.warn = () => {};
  });
  after(() => {
    console.warn = warn;
  });
  for (const [name, property] of Object.entries(PROPERTIES)) {
    it(name, () =>
      fc.assert(property as fc.IAsyncProperty<unknown>, {
        numRuns: 500,
        seed: 1,
        includeErrorInReport: true,
      }),
    ).timeout(120_000);
  }
});
