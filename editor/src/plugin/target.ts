import { parseIdent } from 'plugin-editor/client.js';

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

/**
 * The same target, with a namespace and sure to be usable in a path.
 * @throws TypeError that names what cannot be used.
 */
export function checkTarget(target: PluginTarget): PluginTarget {
  const namespace = target.namespace || DEFAULT_NAMESPACE;
  const { environment, tenant } = parseIdent(target.ident);
  checkSegment('ident', environment);
  checkSegment('ident', tenant);
  checkSegment('namespace', namespace);
  checkSegment('fn', target.fn);
  if (target.template) checkSegment('template', target.template);
  return { ...target, namespace };
}

/** Encoding cannot make `.` and `..` safe as a segment of a path, and a lone surrogate has no encoding. */
function checkSegment(name: string, value: string): void {
  if (['', '.', '..'].includes(value) || !value.isWellFormed()) {
    throw new TypeError(`${name} must be well-formed text, and not empty, '.' or '..'`);
  }
}
