import { HttpError, NetworkError, TimeoutError } from 'plugin-editor/client.js';
import { DraftConflict } from './draft-store.ts';

/** Why a request to the builder came to nothing, as far as a user can do something about it. */
export type Failure =
  /** No connection, or no answer in time. */
  | 'connection'
  /** The service has trouble of its own, or answers with what is not the interface's. */
  | 'service'
  /** The service has too much to do at the moment. */
  | 'busy'
  /** The token has ended. */
  | 'session'
  /** The token is for something else. */
  | 'forbidden'
  /** The draft changed elsewhere. */
  | 'conflict'
  | 'too-large'
  /** The service will not take this record. */
  | 'refused';

export function failureOf(error: unknown): Failure {
  if (error instanceof DraftConflict) return 'conflict';
  if (error instanceof NetworkError || error instanceof TimeoutError) return 'connection';
  // A redirect is no word of the builder's on the record: something in between answers in its place for a while.
  if (!(error instanceof HttpError) || error.redirect) return 'service';
  switch (error.status) {
    case 401:
      return 'session';
    case 403:
      return 'forbidden';
    case 408:
      return 'connection';
    case 412:
      return 'conflict';
    case 413:
      return 'too-large';
    case 429:
    case 503:
      return 'busy';
    default:
      return error.status >= 500 ? 'service' : 'refused';
  }
}

/** Whether the same save may well succeed later by itself. */
export const isPassing = (failure: Failure): boolean => ['connection', 'service', 'busy'].includes(failure);

/** A failure as the key of its text. */
export const failureKey = (failure: Failure) => (failure === 'too-large' ? 'tooLarge' : failure);
