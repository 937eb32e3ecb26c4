/** The permissions of editor tokens. Each operation that takes an editor token declares the permission that it needs. */
export const permissions = [
  /** Read drafts, versions and what is live. Every token has it. */
  'read',
  /** Save, build and test. */
  'write',
  /** Deploy, and set what is live. */
  'deploy',
  /** Read messages, logs and payloads of real runs, which may hold other people's data. */
  'runs',
] as const;

export type Permission = (typeof permissions)[number];

/** The permissions of a token by default. */
export const defaultPermissions: readonly Permission[] = ['read', 'write', 'deploy'];

export const isPermission = (name: string): name is Permission =>
  (permissions as readonly string[]).includes(name);
