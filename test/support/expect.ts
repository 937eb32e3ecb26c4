// @ts-expect-error The package declares only its main entry, which only bundlers can resolve.
import * as chai from '@esm-bundle/chai/esm/chai.js';

/** The assertions of the tests in browsers, for those of the same kind that need none. */
export const { expect } = chai as { expect: Chai.ExpectStatic };
