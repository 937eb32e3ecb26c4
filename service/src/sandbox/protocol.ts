import type { Program } from '../plugins/program.ts';

/** What the sandbox sends to a runner: one run at a time. */
export interface RunRequest {
  /** The program's hash. */
  readonly hash: string;
  /** Sent when the runner is not known to have it. */
  readonly program?: Program | undefined;
  /** Whether it has types. */
  readonly isTyped: boolean;
  readonly input: string;
}

/** The kinds of frames that go to a runner and come from one. */
export const frameKind = {
  /** To a runner: a {@link RunRequest}. */
  run: 1,
  /** It has come up and can take a run. */
  ready: 2,
  /** The run logged an entry. */
  log: 3,
  /** The run has ended with a result. The runner can take another. */
  result: 4,
  /** The run has ended with a `RunError`, as JSON. The runner can take another. */
  error: 5,
  /** The runner does not have the program any more: the request is to be sent again with it. */
  missing: 6,
  /** It cannot work on this machine: the reason. */
  broken: 7,
} as const;

export type FrameKind = (typeof frameKind)[keyof typeof frameKind];

/*
 * A plugin's text goes through as it is, for speed; but halves of surrogate pairs have no place in UTF-8, and JSON can
 * escape them. The first character says which.
 */
const plain = '=';
const escaped = '~';

export const encodeText = (text: string): string =>
  text.isWellFormed() ? plain + text : escaped + JSON.stringify(text);

export const decodeText = (encoded: string): string =>
  encoded.startsWith(plain) ? encoded.slice(1) : (JSON.parse(encoded.slice(1)) as string);

export const encodeRequest = ({ input, ...rest }: RunRequest): string =>
  `${JSON.stringify(rest)}\n${encodeText(input)}`;

export function decodeRequest(encoded: string): RunRequest {
  // JSON has no line break outside of a text, and none within one that is not escaped.
  const end = encoded.indexOf('\n');
  const rest = JSON.parse(encoded.slice(0, end)) as Omit<RunRequest, 'input'>;
  return { ...rest, input: decodeText(encoded.slice(end + 1)) };
}
