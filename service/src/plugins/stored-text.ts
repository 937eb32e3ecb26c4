/** Whether every database can keep a text: PostgreSQL has no U+0000, and half a surrogate pair has no place in UTF-8. */
export const isStorable = (text: string): boolean => !text.includes('\0') && text.isWellFormed();
