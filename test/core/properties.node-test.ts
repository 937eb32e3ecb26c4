import { test } from 'node:test';
import * as fc from 'fast-check';
import { MESSAGE_PROPERTIES } from './message-properties.ts';
import { PROPERTIES } from './properties.ts';

// Other values in each run. A failure prints its seed. `npm run soak properties` tries far more.
for (const [name, property] of Object.entries({ ...PROPERTIES, ...MESSAGE_PROPERTIES })) {
  test(name, { timeout: 120_000 }, () => fc.assert(property as fc.IAsyncProperty<unknown>, { numRuns: 200 }));
}
