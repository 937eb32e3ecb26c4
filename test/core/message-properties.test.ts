import * as fc from 'fast-check';

import { MESSAGE_PROPERTIES } from './message-properties.ts';

// Some runs in each engine, for what engines do differently. properties.node-test.ts has more.
describe('properties of messages', () => {
  for (const [name, property] of Object.entries(MESSAGE_PROPERTIES)) {
    it(name, () => fc.assert(property as fc.IProperty<unknown>, { numRuns: 200 })).timeout(60_000);
  }
});
