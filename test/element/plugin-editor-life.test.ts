import * as fc from 'fast-check';
import { fakeWorld } from './fake-world.ts';
import { lives } from './plugin-editor-life.ts';

// The same lives each time, so that a change is judged by what it changes; `npm run soak properties` tries many others.
describe('<plugin-editor> under arbitrary events', () => {
  it('has at most one frame, leaves nothing behind, stops waiting and uses no outdated response', () =>
    fc.assert(lives(fakeWorld), { numRuns: 1000, seed: 1, includeErrorInReport: true })).timeout(120_000);
});
