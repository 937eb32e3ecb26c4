/** In bytes. */
export const mebibyte = 2 ** 20;

/** A day by UTC, which has no leap seconds, in ms. */
export const dayLength = 86_400_000;
