/*
 * Checks of unknown data for what runs in the elements and in the editor's half of the frame protocol. The clients use zod,
 * of which `zod/mini` with one schema adds 4.7 KB gzip: a fifth of the script tag, and twice `editor.js`.
 */

export const isText = (value: unknown): value is string => typeof value === 'string';

export const isFlag = (value: unknown): value is boolean => typeof value === 'boolean';

/** Whether something is an object of JSON, which an array is not. */
export const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

export const isTextList = (value: unknown): value is string[] => Array.isArray(value) && value.every(isText);

/** Whether something is a list of objects, as tests are. */
export const isRecordList = (value: unknown): value is Record<string, unknown>[] =>
  Array.isArray(value) && value.every(isRecord);
