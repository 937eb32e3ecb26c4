import { type DraftLocation, parseIdent } from 'plugin-editor/client.js';

/** Which plugin to open, and at which service. */
export interface PluginTarget {
  /** Base address of the service interface, as it was given. */
  builder: string;
  /** Environment, a period, tenant. */
  ident: string;
  namespace: string;
  /** Plugin name. */
  fn: string;
  /** Language for a new plugin. */
  template?: string | undefined;
}

const DEFAULT_NAMESPACE = 'default';

/** A field of what is to be opened that cannot be used; `address` for the address as a whole. */
export type UnusableField = 'ident' | 'namespace' | 'fn' | 'template' | 'token' | 'address';

/** A plugin cannot be opened with the value of a field. The page says in its language what would be right. */
export class UnusableValueError extends TypeError {
  override readonly name = 'UnusableValueError';
  readonly field: UnusableField;

  constructor(field: UnusableField) {
    super(`${field} cannot be used`);
    this.field = field;
  }
}

/**
 * Fills in the namespace, and checks that the target can be used in paths.
 * @throws UnusableValueError
 */
export function checkTarget(target: PluginTarget): PluginTarget {
  const namespace = target.namespace || DEFAULT_NAMESPACE;
  const { environment, tenant } = parseTargetIdent(target.ident);
  checkSegment('ident', environment);
  checkSegment('ident', tenant);
  checkSegment('namespace', namespace);
  checkSegment('fn', target.fn);
  if (target.template) checkSegment('template', target.template);
  return { ...target, namespace };
}

function parseTargetIdent(ident: string) {
  try {
    return parseIdent(ident);
  } catch {
    throw new UnusableValueError('ident');
  }
}

/** Encoding cannot make `.` and `..` safe as a segment of a path, and a lone surrogate has no encoding. */
function checkSegment(field: UnusableField, value: string): void {
  if (['', '.', '..'].includes(value) || !value.isWellFormed()) {
    throw new UnusableValueError(field);
  }
}

/** Where the service has the plugin. `target` must be one that `checkTarget` returned. */
export function locationOf({ ident, namespace, fn }: PluginTarget): DraftLocation {
  const { environment, tenant } = parseIdent(ident);
  return { environment, userID: tenant, namespace, pluginName: fn };
}
