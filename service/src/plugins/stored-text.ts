/** Whether every database can store a text: PostgreSQL cannot store U+0000, and UTF-8 cannot hold lone surrogates. */
export const isStorable = (text: string): boolean => !text.includes('\0') && text.isWellFormed();
