import * as fc from 'fast-check';
import { fakeWorld } from './fake-world.ts';
import { lives } from './plugin-editor-life.ts';

// A fixed seed, so that a failure is due to a change. `npm run soak properties` tries many other lives.
describe('<plugin-editor> under arbitrary events', () => {
  it('has at most one frame, leaves nothing behind, stops waiting and uses no outdated response', () =>
    fc.assert(lives(fakeWorld), { numRuns: 250, seed: 1, includeErrorInReport: true })).timeout(120_000);
});
