// In a file of its own, because the published types of the settings import it, and must not import anything else.

/** How much records hold: codes, times and sizes; with messages and logs; with input and output as well. */
export const recordLevels = ['outcome', 'logs', 'payloads'] as const;

export type RecordLevel = (typeof recordLevels)[number];
