import * as fc from 'fast-check';
import { fakeWorld } from './fake-world.ts';
import { lives } from './plugin-editor-life.ts';

// `npm run soak properties` has it live longer.
describe('<plugin-editor>, whatever befalls it', () => {
  it('has one frame at most, leaves nothing behind, ends its waiting and uses no old answer', () =>
    fc.assert(lives(fakeWorld), { numRuns: 1000 })).timeout(120_000);
});
