import { table } from './markdown.ts';
import type { ServiceFacts } from './service.ts';

type Unit = 'ms' | 'bytes' | 'characters' | 'count';
/** A row of a table: what is limited, its unit, and what happens past the limit. */
type Row = readonly [label: string, unit: Unit, past: string];

/** What happens past a limit of modules. */
const pastModule = 'the build fails; 422 `module-limit` for a version that an older release built';

/*
 * The descriptions of the service's limits, by the constants that hold their values. A limit that is only described, or only in the
 * service, is an error.
 */

const DESCRIPTIONS: Readonly<Record<string, Readonly<Record<string, Row>>>> = {
  runLimits: {
    time: ['time', 'ms', '504 `time-limit`; a runner whose run does not end is killed'],
    memory: ['memory', 'bytes', '422 `memory-limit`'],
    input: ['input', 'bytes', '413 `input-limit`'],
    output: ['output', 'bytes', '422 `output-limit`'],
    logs: ['all logs together', 'bytes', '422 `log-limit`'],
    logEntries: ['entries in the logs', 'count', '422 `log-limit`'],
  },
  defaultPythonMemory: {
    value: ["memory in Python, beyond the interpreter's own", 'bytes', '422 `memory-limit`'],
  },
  moduleLimits: {
    module: ['a compiled WebAssembly module', 'bytes', pastModule],
    functions: ['functions in such a module', 'count', pastModule],
    locals: ['variables of one function, parameters included', 'count', pastModule],
    code: ['code of one function', 'bytes', pastModule],
    localsTimesCode: ['variables times bytes of code of one function', 'count', pastModule],
    table: ['entries in the tables of such a module', 'count', pastModule],
  },
  buildLimits: {
    time: ['time of a build', 'ms', 'the build fails; the compiler is killed'],
    memory: ['memory of a build', 'bytes', 'the build fails; the compiler is killed'],
  },
  checkTime: { value: ['time of a check', 'ms', 'the check fails; the compiler is killed'] },
  programLimit: { value: ['the program that a build makes, as JSON', 'bytes', 'the build fails'] },
  diagnosticLimits: {
    count: [
      'diagnostics of a build',
      'count',
      'errors are kept before warnings; the last says how many more there are',
    ],
    message: ['the message of one diagnostic', 'bytes', 'it is cut'],
    total: ['all diagnostics together, as JSON', 'bytes', 'the rest is left out'],
  },
  helpLimits: {
    source: ['a source', 'characters', '413 `too-large`'],
    time: ['time of a request', 'ms', '422 `help-failed`; the process is killed'],
    memory: [
      'memory of a process with its language server',
      'bytes',
      '422 `help-failed`; the process is killed',
    ],
    recycleAt: ['memory of such a process after a request', 'bytes', 'the process is replaced'],
    completions: ['completions', 'count', 'those that begin with the typed word stay'],
    label: ['a label', 'characters', 'it is left out'],
    documentation: ['a documentation text', 'characters', 'it is cut'],
    signatures: ['signatures of a call', 'count', 'the rest is left out'],
    parameters: ['parameters of a signature', 'count', 'the rest is left out'],
    fixes: ['fixes at one place', 'count', 'the rest is left out'],
    edits: ['changes of the text by renaming or formatting', 'count', 'there is no result'],
    reply: ['a reply', 'bytes', '422 `help-failed`; the process is killed'],
  },
  httpLimits: {
    headersTimeout: [
      'time for the headers of the first request of a connection',
      'ms',
      '408, and the connection is closed',
    ],
    requestTimeout: ['time for a whole request', 'ms', '408, and the connection is closed'],
    connectionsCheckingInterval: ['interval between two checks of these times', 'ms', '-'],
    keepAliveTimeout: ['idle time of a connection that the header `Keep-Alive` promises', 'ms', '-'],
    idleTimeout: ['idle time of a connection', 'ms', 'the connection is closed'],
    paceTime: [
      'time in which a client sends or takes the next piece of a body',
      'ms',
      '408 for a request; for a response, the connection is closed',
    ],
    paceBytes: ['such a piece', 'bytes', '-'],
    maxConnections: ['connections', 'count', 'a connection that waits for its client is closed'],
    smallBody: [
      'a body that the response does not need, received before it',
      'bytes',
      'the response is sent at once, with `connection: close`',
    ],
    unwantedBody: ['the same, received after the response', 'bytes', 'the connection is closed'],
  },
  postgresLimits: {
    connections: [
      'connections, in addition to the one that monitors the database',
      'count',
      'a request waits',
    ],
    waiting: ['requests that wait for a connection', 'count', '503 `storage-unavailable`'],
    acquireTimeout: ['time that a request waits for a connection', 'ms', '503 `storage-unavailable`'],
    statementTimeout: ['time of one statement, including waits for locks', 'ms', '503 `storage-unavailable`'],
    holdTimeout: ['time of one transaction', 'ms', 'it is ended: 503 `storage-unavailable`'],
    monitorTimeout: ['time for a reply to the monitor', 'ms', 'it makes another connection'],
    monitorConnectTimeout: ['time to make that connection', 'ms', 'the database counts as lost'],
    closeTimeout: ['time for statements in progress when the service shuts down', 'ms', 'they are ended'],
    reconnectInterval: ['interval between two tries to reach a lost database', 'ms', '-'],
  },
};

/** The tables of limits, by the names of their markers. */
export function limitTables({ limits }: ServiceFacts): Record<string, string> {
  const tableOf = (...names: string[]) =>
    table(
      ['what', 'at most', 'past it'],
      names.flatMap((name) => rowsOf(name, limits[name] ?? {})),
    );
  return {
    'run limits': tableOf('runLimits', 'defaultPythonMemory', 'moduleLimits'),
    'build limits': tableOf('buildLimits', 'checkTime', 'programLimit', 'diagnosticLimits'),
    'help limits': tableOf('helpLimits'),
    'request limits': tableOf('httpLimits'),
    'database limits': tableOf('postgresLimits'),
  };
}

function rowsOf(name: string, values: Record<string, number>): string[][] {
  const rows = DESCRIPTIONS[name] ?? {};
  const unknown = [...Object.keys(values), ...Object.keys(rows)].filter(
    (key) => !(key in values && key in rows),
  );
  if (unknown.length > 0)
    throw new Error(
      `${unknown.join(', ')} of ${name} must be both in the service and in tools/generate/limits.ts, and is only in one of them.`,
    );
  return Object.entries(rows).map(([key, [label, unit, past]]) => [
    label,
    withUnit(values[key] ?? 0, unit),
    past,
  ]);
}

function withUnit(value: number, unit: Unit): string {
  if (unit === 'ms') return value < 1000 ? `${value} ms` : `${value / 1000} s`;
  if (unit === 'characters') return `${value.toLocaleString('en')} characters`;
  if (unit === 'count') return value.toLocaleString('en');
  return value % 2 ** 20 === 0
    ? `${value / 2 ** 20} MiB`
    : value % 1024 === 0
      ? `${value / 1024} KiB`
      : `${value} bytes`;
}
