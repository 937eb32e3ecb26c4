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

/** What environment tokens may be limited to. Each operation that takes one declares the scope that it needs. */
export const scopes = [
  /** Run plugins. */
  'run',
  /** Make editor tokens with `read` and `write`. */
  'access',
  /** Make editor tokens with `deploy`, too. */
  'access-deploy',
  /** Lists, records of runs, usage and the audit log; together with `access` or `access-deploy`, editor tokens with `runs`. */
  'read',
  /** Everything else. */
  'manage',
] as const;

export type Scope = (typeof scopes)[number];

export const isScope = (name: string): name is Scope => (scopes as readonly string[]).includes(name);

/** Whether a token with some scopes has this one, too. */
export const hasScope = (granted: readonly Scope[], scope: Scope): boolean =>
  granted.includes(scope) || (scope === 'access' && granted.includes('access-deploy'));

/** Each scope once, and in the order of their declaration. */
export const sortedScopes = (given: readonly Scope[]): readonly Scope[] =>
  scopes.filter((one) => given.includes(one));

/** The permissions that editor tokens may get from an environment token with these scopes. */
export function permissionsOf(granted: readonly Scope[]): readonly Permission[] {
  if (!hasScope(granted, 'access')) return [];
  const allowed: Readonly<Record<Permission, boolean>> = {
    read: true,
    write: true,
    deploy: granted.includes('access-deploy'),
    runs: granted.includes('read'),
  };
  return permissions.filter((one) => allowed[one]);
}
