import { texts } from '../locales/locale.ts';

/** What the user may do with the plugin that is open. */
export interface Access {
  /** Save, build and test. */
  canWrite: boolean;
  /** Deploy, and make versions live. */
  canDeploy: boolean;
  /** See messages, logs and payloads of real runs. */
  canSeeRuns: boolean;
  /** Why nothing can be changed: the page around the editor, or the token. */
  readOnlyBy: 'host' | 'token' | undefined;
}

/** The sentence that says why nothing can be changed; `undefined` where something can. */
export function readOnlyReason({ readOnlyBy }: Access): string | undefined {
  const { frame } = texts();
  return readOnlyBy && { host: frame.readOnlyHost, token: frame.readOnlyToken }[readOnlyBy];
}

/**
 * @param permissions what the token permits; `undefined` where the service does not say, which is everything but what
 *   needs to be granted
 * @param isReadOnly whether the page around the editor wants nothing changed
 */
export function accessOf(permissions: readonly string[] | undefined, isReadOnly: boolean): Access {
  const has = (permission: string) => permissions?.includes(permission) ?? permission !== 'runs';
  const canWrite = has('write') && !isReadOnly;
  return {
    canWrite,
    canDeploy: has('deploy') && canWrite,
    canSeeRuns: has('runs'),
    readOnlyBy: isReadOnly ? 'host' : canWrite ? undefined : 'token',
  };
}
