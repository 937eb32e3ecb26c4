import { mebibyte } from '../units.ts';

/** How large a body with a plugin's source may be, in bytes. */
export const sourceLimit = mebibyte;
