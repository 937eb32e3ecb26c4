import { boundedEnd } from './bounded.ts';
import type { BuildEnd } from './limits.ts';

/** The descriptor by which a compiler's process talks with the service; frames go both ways. */
export const channel = 3;

/** The kinds of frames that go to a compiler's process and come from one. */
export const frameKind = {
  /** To the process: the source, as it is. */
  compile: 1,
  /** The compiler is warm and can take a source. */
  ready: 2,
  /** How a build ended, as JSON: {@link CompilerReport}. */
  end: 3,
  /** It cannot work on this machine: the reason. */
  broken: 4,
} as const;

/** The longest source that a compiler's process takes, in bytes. */
export const sourceLimit = 2 * 2 ** 20;

export interface CompilerReport {
  readonly end: BuildEnd;
  /** Bytes of the machine's memory that the process holds after the build. */
  readonly memory: number;
}

export const encodeReport = ({ end, memory }: CompilerReport): string =>
  JSON.stringify({ end: boundedEnd(end), memory });
