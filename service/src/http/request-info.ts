import type { Context } from 'hono';

/** What is known of a request while it is answered; it ends up in the log. */
export interface RequestInfo {
  /** Made by the service: a UUIDv7. */
  readonly id: string;
  /** Headers of its answer, whatever that is: those of `Context` are lost where the answer is an error. */
  readonly answerHeaders: Record<string, string>;
  /** The pattern of the path, such as `/api/v1/features`; `undefined` while no route was found. */
  route?: string;
  environment?: string;
  tenant?: string;
  /** Whose environment token it came with. */
  holder?: string;
  /** Whether it came with a token that is good. */
  isAuthenticated?: boolean;
  /** Whether it was counted for the address of its client. */
  isCounted?: boolean;
  /** Who the editor token was given to, by the vendor's name for them. */
  actor?: string | undefined;
  /** Why the run that it asked for gave no output: a code. */
  runError?: string;
}

declare module 'hono' {
  interface ContextVariableMap {
    request: RequestInfo;
  }
}

/** The information on a request; every one has it from its beginning. */
export const requestInfo = (c: Context): RequestInfo => c.get('request');
