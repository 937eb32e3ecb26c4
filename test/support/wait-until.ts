import { waitUntil as poll } from '@open-wc/testing';

/** How long a condition may take, in ms. The library's own limit of a second is too short for a busy machine. */
const PATIENCE = 30_000;

/**
 * Waits in a browser until a condition holds, where no event tells of it.
 * @param condition asked again and again; it holds once it returns something truthy
 * @param message what was waited for, for the error
 */
export const waitUntil = (condition: () => unknown, message?: string): Promise<void> =>
  poll(condition, message, { interval: 20, timeout: PATIENCE });
