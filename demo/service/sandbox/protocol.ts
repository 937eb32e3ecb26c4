import type { RunEnd } from './outcome.ts';
import type { Program } from './program.ts';

/** What the sandbox sends to a runner: one run at a time, as JSON in a frame of kind `run`. */
export interface RunRequest {
  /** The program's hash. */
  readonly hash: string;
  /** Sent when the runner is not known to have it. */
  readonly program?: Program;
  readonly input: string;
}

/** The kinds of frames that go to a runner and come from one. */
export const frameKind = {
  /** To a runner: a {@link RunRequest}. */
  run: 1,
  /** It has come up and can take a run. */
  ready: 2,
  /** The run logged an entry, which is JSON text. */
  log: 3,
  /** The run has ended: a `RunEnd`. The runner can take another. */
  end: 4,
  /** The runner does not have the program any more: the request is to be sent again with it. */
  missing: 5,
  /** It cannot work on this machine: the reason. */
  broken: 6,
} as const;

export type FrameKind = (typeof frameKind)[keyof typeof frameKind];

export type { RunEnd };
