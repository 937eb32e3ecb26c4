// In a separate file, because the published types of the settings import it, and must not import anything else.

/** How much records hold. `outcome`: codes, times, sizes; `logs`: also messages and logs; `payloads`: also input and output. */
export const recordLevels = ['outcome', 'logs', 'payloads'] as const;

export type RecordLevel = (typeof recordLevels)[number];

/** The level that records less. */
export const lowerLevel = (one: RecordLevel, other: RecordLevel = one): RecordLevel =>
  recordLevels[Math.min(recordLevels.indexOf(one), recordLevels.indexOf(other))] ?? one;
