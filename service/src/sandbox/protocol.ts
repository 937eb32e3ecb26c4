import type { Program } from '../plugins/program.ts';
import { decodeParcel, encodeParcel, partsOfParcel } from './parcel.ts';
import type { AdjustableLimits } from './run-limits.ts';
import type { Arrival, SuspendedScript } from './script/script-run.ts';

interface AnyJob {
  /** The program's hash. */
  readonly hash: string;
  /** Sent unless the runner was sent it before. */
  readonly program?: Program | undefined;
  /** Whether the program has types. */
  readonly isTyped: boolean;
  /** The limits of the run, where they are not the service's. */
  readonly limits?: AdjustableLimits | undefined;
  /** Which calls the run may make. Without, it can make none. */
  readonly calls?: CallLimits | undefined;
}

/** The job that a runner is sent: one run of a program. A runner has one job at a time. */
export interface RunJob extends AnyJob {
  readonly input: string;
}

/** The job that goes on with a run that waited. */
export interface ResumeJob extends AnyJob {
  /** What a frame `suspended` held. */
  readonly state: Buffer;
  readonly arrivals: readonly Arrival[];
  /** How many ms ago the run began. */
  readonly elapsed: number;
  /** How long the run has been in an engine, in ms. */
  readonly spent: number;
  /** What the run has logged. */
  readonly logged: { readonly bytes: number; readonly entries: number };
}

/** How many calls a run may still make, and how many timers it may still set. */
export interface CallLimits {
  readonly calls: number;
  readonly timers: number;
}

/** The kinds of frames that go to a runner and come from one. */
export const frameKind = {
  /** To a runner: a {@link RunJob}. */
  run: 1,
  /** The runner has come up and can take a run. */
  ready: 2,
  /** The run logged an entry. */
  log: 3,
  /** The run has ended with a result. The runner can take another. */
  result: 4,
  /** The run has ended with a `RunError`, as JSON. The runner can take another. */
  error: 5,
  /** The runner has evicted the program: the job has to be sent again, with the program. */
  missing: 6,
  /** The runner does not work on this machine. The text is the reason. */
  broken: 7,
  /** The run makes a call: bytes, see {@link encodeCall}. */
  call: 8,
  /** The run sets a timer: `[id, ms]` as JSON. */
  timer: 9,
  /** The run has no use for a timer any more: its id. */
  stopTimer: 10,
  /** The run waits: bytes, which only a runner reads. The runner can take another run. */
  suspended: 11,
  /** To a runner: a {@link ResumeJob}, as bytes. */
  resume: 12,
  /** How long a run that can make calls was in the engine, in ms. Sent before how its turn ended. */
  took: 13,
} as const;

/** The kinds whose content is bytes. */
export const kindsOfBytes: readonly number[] = [frameKind.call, frameKind.suspended, frameKind.resume];

export type FrameKind = (typeof frameKind)[keyof typeof frameKind];

/*
 * A plugin's text is sent unchanged, for speed. But UTF-8 cannot hold lone surrogates, so that a text with some is sent as JSON,
 * which escapes them. The first character distinguishes the two.
 */
const plain = '=';
const escaped = '~';

export const encodeText = (text: string): string =>
  text.isWellFormed() ? plain + text : escaped + JSON.stringify(text);

export const decodeText = (encoded: string): string =>
  encoded.startsWith(plain) ? encoded.slice(1) : (JSON.parse(encoded.slice(1)) as string);

export const encodeJob = ({ input, ...rest }: RunJob): string =>
  `${JSON.stringify(rest)}\n${encodeText(input)}`;

export function decodeJob(encoded: string): RunJob {
  // JSON that was made without indentation has no line breaks: those within texts are escaped.
  const end = encoded.indexOf('\n');
  const rest = JSON.parse(encoded.slice(0, end)) as Omit<RunJob, 'input'>;
  return { ...rest, input: decodeText(encoded.slice(end + 1)) };
}

/** The bytes of a call: its id and the JSON of address, method and headers, and its body. */
export const encodeCall = (id: number, head: string, body: Uint8Array | undefined): Buffer =>
  encodeParcel([id, head], body ? [body] : []);

export const encodeSuspended = ({ memory: given, promise }: SuspendedScript): Buffer => {
  const { ranges, base, headroom, memory: size } = given;
  const memory = { base, headroom, memory: size };
  const places = ranges.flatMap(({ offset, bytes }) => [offset, bytes.byteLength]);
  return encodeParcel({ promise, memory, places }, [Buffer.concat(ranges.map(({ bytes }) => bytes))]);
};

function decodeSuspended(encoded: Buffer): SuspendedScript {
  const { value, blobs } = decodeParcel(encoded);
  const { promise, memory, places } = value as {
    promise: number;
    memory: Omit<SuspendedScript['memory'], 'ranges' | 'size'>;
    places: readonly number[];
  };
  const [bytes = new Uint8Array()] = blobs;
  const ranges: { offset: number; bytes: Uint8Array }[] = [];
  let at = 0;
  for (let i = 0; i < places.length; i += 2) {
    const [offset = 0, length = 0] = places.slice(i, i + 2);
    ranges.push({ offset, bytes: bytes.subarray(at, at + length) });
    at += length;
  }
  return { promise, memory: { ...memory, ranges, size: at } };
}

/** In parts, as the state may be large. The bodies of responses go as bytes beside the JSON, whose arrivals hold none. */
export function encodeResume({ state, arrivals, ...rest }: ResumeJob): readonly Uint8Array[] {
  const bodies: Uint8Array[] = [];
  const bare = arrivals.map((arrival) => {
    if (!('body' in arrival)) return arrival;
    bodies.push(arrival.body);
    return { ...arrival, body: undefined };
  });
  return partsOfParcel({ ...rest, arrivals: bare }, [state, ...bodies]);
}

export function decodeResume(encoded: Buffer): Omit<ResumeJob, 'state'> & { suspended: SuspendedScript } {
  const { value, blobs } = decodeParcel(encoded);
  const { arrivals, ...rest } = value as Omit<ResumeJob, 'state'>;
  const [state = Buffer.alloc(0), ...bodies] = blobs;
  return {
    ...rest,
    suspended: decodeSuspended(state as Buffer),
    arrivals: arrivals.map((arrival) =>
      'head' in arrival ? { ...arrival, body: bodies.shift() ?? new Uint8Array() } : arrival,
    ),
  };
}
