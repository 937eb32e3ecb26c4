/** In bytes. */
export const mebibyte = 2 ** 20;

/** A day in ms. JavaScript's time has no leap seconds. */
export const dayLength = 86_400_000;
