import * as fc from 'fast-check';
import { PROPERTIES } from './element-properties.ts';
import { fakeWorld } from './fake-world.ts';
import { lives } from './plugin-editor-life.ts';

// A fixed seed, so that a failure is due to a change. `npm run soak properties` tries many others.
describe('properties of the elements', () => {
  const { warn } = console;
  before(() => {
    // An editor on the origin of this page causes a warning.
    console.warn = () => {};
  });
  after(() => {
    console.warn = warn;
  });
  for (const [name, property] of Object.entries(PROPERTIES)) {
    it(name, () =>
      fc.assert(property as fc.IAsyncProperty<unknown>, {
        numRuns: 50,
        seed: 1,
        includeErrorInReport: true,
      }),
    ).timeout(120_000);
  }
});

describe('<plugin-editor> under arbitrary events', () => {
  it('has at most one frame, leaves nothing behind, stops waiting and uses no outdated response', () =>
    fc.assert(lives(fakeWorld), { numRuns: 80, seed: 1, includeErrorInReport: true })).timeout(120_000);
});
