/** How large a body with a plugin's source may be, in bytes. */
export const sourceLimit = 1024 * 1024;
