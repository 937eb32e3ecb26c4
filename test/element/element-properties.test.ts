import * as fc from 'fast-check';
import { PROPERTIES } from './element-properties.ts';

// `npm run soak properties` tries more.
describe('the elements, whatever they are given', () => {
  const { warn } = console;
  before(() => {
    // Some editors are on this page's own origin, which is warned about.
    console.warn = () => {};
  });
  after(() => {
    console.warn = warn;
  });
  for (const [name, property] of Object.entries(PROPERTIES)) {
    it(name, () => fc.assert(property as fc.IAsyncProperty<unknown>, { numRuns: 500 })).timeout(120_000);
  }
});
