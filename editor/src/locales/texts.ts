import type { en } from './en.ts';

/** All texts of a language. A file that lacks one of them does not compile. */
export type Texts = typeof en;
