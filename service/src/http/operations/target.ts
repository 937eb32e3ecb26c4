import type { Context } from 'hono';
import { splitIdentifier } from '../../plugins/plugin-key.ts';
import { badRequest } from '../errors.ts';
import { requestInfo } from '../request-info.ts';
import { namesIn, pathParameter } from './path-parameters.ts';
import type { PathParameterName, Target } from './path-parameters.ts';

/** A path that was read: its parameters, decoded, and its target. */
export interface ReadPath {
  readonly path: Readonly<Record<string, string>>;
  readonly target: Target;
}

/**
 * Makes the function that reads the parameters of paths of this pattern. It throws 400 for a parameter that does not fit, and
 * notes the environment and tenant for the log.
 */
export function pathReader(pattern: string): (c: Context) => ReadPath {
  const names = namesIn(pattern);
  return (c) => {
    const path: Record<string, string> = {};
    const target: { -readonly [Key in keyof Target]: Target[Key] } = {};
    for (const name of names) {
      const value = c.req.param(name) ?? '';
      path[name] = value;
      const { mismatch, schema } = pathParameter(name);
      if (mismatch !== undefined && !schema.safeParse(value).success) throw mismatchOf(name, mismatch);
      addTo(target, name, value);
    }
    const { environment, tenant } = target;
    const info = requestInfo(c);
    if (environment !== undefined) info.environment = environment;
    if (tenant !== undefined) info.tenant = tenant;
    return { path, target };
  };
}

function addTo(
  target: { -readonly [Key in keyof Target]: Target[Key] },
  name: PathParameterName,
  value: string,
): void {
  switch (name) {
    case 'identifier':
    case 'ident':
      Object.assign(target, splitIdentifier(value));
      break;
    case 'pluginName':
    case 'name':
    case 'ext':
      target.pluginName = value;
      break;
    case 'environment':
    case 'namespace':
      target[name] = value;
      break;
    // These parameters name no part of a target.
    case 'language':
    case 'connection':
    case 'id':
    case 'version':
    case 'uuid':
    case 'delivery':
    case 'scope':
    case 'library':
    case 'libraryVersion':
      break;
    default:
      name satisfies never;
  }
}

const mismatchOf = (name: string, mismatch: string) =>
  badRequest('invalid-path', `The path's ${name} ${mismatch}.`);
