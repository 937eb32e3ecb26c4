import { parse } from 'tldts';
import { isWildcard } from '../plugins/connections.ts';
import type { Connection } from '../plugins/connections.ts';

/** The address of a request in the form in which grants are compared, or why it is none that can be granted. */
export type ParsedTarget = { readonly url: URL } | { readonly problem: string };

/**
 * Parses the address of a request. Servers disagree about encoded slashes, dots and backslashes in paths, so that a path with one
 * could reach what its form does not show: it is never granted.
 */
export function parseTarget(text: string): ParsedTarget {
  // As the parser of URLs does, so that nothing can be hidden by it.
  const cleaned = text.replaceAll(/[\t\n\r]/g, '');
  if (!URL.canParse(cleaned)) return { problem: 'is no absolute URL' };
  const url = new URL(cleaned);
  if (!/^https?:$/.test(url.protocol)) return { problem: 'is neither http nor https' };
  if (url.username || url.password) return { problem: 'names a user or a password' };
  const [path = ''] = cleaned.split(/[?#]/);
  // Encoded twice, too, for servers that decode twice.
  if (/\\|%(?:25)*(?:2f|5c|2e)/i.test(path))
    return { problem: 'has an encoded slash or dot, or a backslash, in its path' };
  // Some servers cut what follows a semicolon, and then take the rest for "..".
  if (/\/\.{1,2};/.test(path)) return { problem: 'has a segment of dots with a parameter in its path' };
  url.hash = '';
  return { url };
}

/** The path under which a connection is granted, without a slash at its end. */
const prefixOf = ({ pathPrefix = '/' }: Connection) =>
  pathPrefix.endsWith('/') ? pathPrefix.slice(0, -1) : pathPrefix;

const methodsOf = ({ methods = ['GET'] }: Connection): readonly string[] => methods;

const isUnder = (path: string, prefix: string) => path === prefix || path.startsWith(`${prefix}/`);

/** Whether an origin is one that a wildcard covers: the same, with one label at the place of the `*`. */
export function isCovered(origin: string, wildcard: string): boolean {
  const [start = '', end = ''] = wildcard.split('*');
  if (!origin.startsWith(start) || !origin.endsWith(end)) return false;
  return /^[a-z\d](?:[a-z\d-]{0,61}[a-z\d])?$/.test(origin.slice(start.length, origin.length - end.length));
}

/** Finds the origin that the tenant has for a connection with a wildcard. */
type FindOrigin = (connection: Connection) => Promise<string | undefined>;

/**
 * The origin that a connection grants: its own, or with a wildcard the tenant's; `undefined` where the tenant has none, or one that
 * was set for a former wildcard.
 */
export async function grantedOrigin(
  connection: Connection,
  originOf: FindOrigin,
): Promise<string | undefined> {
  if (!isWildcard(connection)) return connection.origin;
  const origin = await originOf(connection);
  return origin !== undefined && isCovered(origin, connection.origin) ? origin : undefined;
}

/** The connection that permits a request, of an origin that is known for it. */
export async function findGrant(
  connections: readonly Connection[],
  method: string,
  url: URL,
  originOf: FindOrigin,
): Promise<Connection | undefined> {
  for (const connection of connections) {
    if (!methodsOf(connection).includes(method) || !isUnder(url.pathname, prefixOf(connection))) continue;
    // Its origin need not be read for what it cannot grant.
    if (isWildcard(connection) && !isCovered(url.origin, connection.origin)) continue;
    if (url.origin === (await grantedOrigin(connection, originOf))) return connection;
  }
  return undefined;
}

/** What is granted, for a message: at most some hundred characters for each connection. */
export async function describeGrants(
  connections: readonly Connection[],
  originOf: FindOrigin,
): Promise<string> {
  const described = connections.map(async (connection) => {
    const origin = await grantedOrigin(connection, originOf);
    return origin === undefined
      ? `${connection.name} (nothing yet: no origin of the form ${connection.origin} is set for this tenant)`
      : `${connection.name} (${methodsOf(connection).join(', ')} ${origin}${prefixOf(connection)})`;
  });
  return (await Promise.all(described)).join('; ');
}

/** Why an origin of a connection cannot be, as words that follow "it must"; `undefined` for one that can be. */
export function findOriginProblem(origin: string): string | undefined {
  const example = 'such as https://api.example.com';
  if (!URL.canParse(origin)) return `be an origin, ${example}`;
  const url = new URL(origin);
  if (!/^https?:$/.test(url.protocol)) return `be an origin, ${example}`;
  if (url.origin !== origin) {
    const rest = url.pathname === '/' ? '' : ', with the path in `pathPrefix`';
    return `be an origin alone, as browsers write it: ${url.origin}${rest}`;
  }
  if (!origin.includes('*')) return undefined;
  const [label, ...rest] = url.hostname.split('.');
  if (url.protocol !== 'https:' || label !== '*' || rest.join('.').includes('*'))
    return 'have its "*" as the whole first label, as in https://*.example.com';
  const { domain } = parse(rest.join('.'), { allowPrivateDomains: true });
  if (!domain) return 'have a registered domain after its "*", such as example.com, and no public suffix';
  return undefined;
}

/** Why a prefix of paths cannot be, as words that follow "it must". */
export function findPrefixProblem(prefix: string): string | undefined {
  const target = parseTarget(`https://host.invalid${prefix.startsWith('/') ? '' : '/'}${prefix}`);
  if (!prefix.startsWith('/')) return 'begin with a slash';
  if ('problem' in target) return `be a path; this one ${target.problem}`;
  return target.url.pathname === prefix ? undefined : `be written as ${target.url.pathname}`;
}

/** Whether there is a request that both connections would permit. */
export function canOverlap(a: Connection, b: Connection): boolean {
  const [prefixA, prefixB] = [prefixOf(a), prefixOf(b)];
  const sharesOrigin =
    a.origin === b.origin ||
    (isWildcard(a) && isCovered(b.origin, a.origin)) ||
    (isWildcard(b) && isCovered(a.origin, b.origin));
  return (
    sharesOrigin &&
    (isUnder(prefixA, prefixB) || isUnder(prefixB, prefixA)) &&
    methodsOf(a).some((method) => methodsOf(b).includes(method))
  );
}
