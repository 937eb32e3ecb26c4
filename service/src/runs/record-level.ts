// Apart from what uses it, because the settings are published with their types, which are to lead to no others.

/** How much records hold: codes, times and sizes; messages and logs too; input and output too. */
export const recordLevels = ['outcome', 'logs', 'payloads'] as const;

export type RecordLevel = (typeof recordLevels)[number];
