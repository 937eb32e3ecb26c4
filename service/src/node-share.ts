import { availableParallelism } from 'node:os';

/** Which of a node's processes this is. What is said of a node is divided among them. */
export interface NodeShare {
  /** From 0 on. */
  readonly index: number;
  readonly count: number;
}

/** The share of a process that is a node by itself. */
export const wholeNode: NodeShare = { index: 0, count: 1 };

/** This process's part of a whole number; the parts of all processes add up to it. */
export const partOf = (total: number, { index, count }: NodeShare): number =>
  Math.floor(total / count) + (index < total % count ? 1 : 0);

/** How many cores a process may count on. */
export const coresOf = ({ count }: NodeShare): number => Math.ceil(availableParallelism() / count);

/**
 * By how much the limits are divided that bound what callers hold. With more than eight processes each has an eighth, because less
 * would refuse what a single caller may well need at once.
 */
export const divisorOf = ({ count }: NodeShare): number => Math.min(count, 8);
