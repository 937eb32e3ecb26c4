import type { Program } from '../plugins/program.ts';

/** The job that a runner is sent: one run of a program. A runner has one job at a time. */
export interface RunJob {
  /** The program's hash. */
  readonly hash: string;
  /** Sent unless the runner was sent it before. */
  readonly program?: Program | undefined;
  /** Whether the program has types. */
  readonly isTyped: boolean;
  readonly input: string;
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
} as const;

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
