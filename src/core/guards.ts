/*
 * Checks of unknown data for what runs in the elements and in the editor's half of the frame protocol. The clients use zod,
 * which weighs more than both of these.
 */

export const isText = (value: unknown): value is string => typeof value === 'string';

export const isFlag = (value: unknown): value is boolean => typeof value === 'boolean';

/** Whether something is an object of JSON, which an array is not. */
export const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

export const isTextList = (value: unknown): value is string[] => Array.isArray(value) && value.every(isText);
