// In a separate file, because the published types of the settings import it, and must not import anything else.

/** How much records hold. `outcome`: codes, times, sizes; `logs`: also messages and logs; `payloads`: also input and output. */
export const recordLevels = ['outcome', 'logs', 'payloads'] as const;

export type RecordLevel = (typeof recordLevels)[number];
