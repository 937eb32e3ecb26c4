/** The largest body of a plugin's source record, in bytes. */
export const sourceLimit = 1024 * 1024;
