import { HttpError, NetworkError, TimeoutError } from 'plugin-editor/client.js';
import { DraftConflict, DraftDeleted } from './draft-errors.ts';

/** Why a request to the service failed, as far as that makes a difference to the user. */
export type Failure =
  /** No connection, or no response in time. */
  | 'connection'
  /** The service failed, or its response is not what the interface says. */
  | 'service'
  /** The service has too much to do at the moment. */
  | 'busy'
  /** The token has ended. */
  | 'session'
  /** The token is for something else. */
  | 'forbidden'
  /** The draft changed elsewhere. */
  | 'conflict'
  /** The draft was deleted. */
  | 'deleted'
  | 'too-large'
  /** It would add to storage that is full. */
  | 'storage-full'
  /** The service cannot save or read at the moment, for instance because its disk is full. */
  | 'storage-unavailable'
  /** The service refuses this record. */
  | 'refused';

/** The kind of failure that an error of a request is. */
export function failureOf(error: unknown): Failure {
  if (error instanceof DraftConflict) return 'conflict';
  if (error instanceof DraftDeleted) return 'deleted';
  if (error instanceof NetworkError || error instanceof TimeoutError) return 'connection';
  // A redirect does not come from the service, but from something before it, such as a page for signing in.
  if (!(error instanceof HttpError) || error.redirect) return 'service';
  switch (error.status) {
    case 401:
      return 'session';
    case 403:
      return error.code === 'storage-full' ? 'storage-full' : 'forbidden';
    case 408:
      return 'connection';
    case 412:
      return 'conflict';
    case 413:
      return 'too-large';
    case 429:
      return 'busy';
    case 503:
      return error.code === 'storage-unavailable' ? 'storage-unavailable' : 'busy';
    default:
      return error.status >= 500 ? 'service' : 'refused';
  }
}

/** Whether the same request may succeed later. */
export const isTransient = (failure: Failure): boolean =>
  ['connection', 'service', 'busy', 'storage-unavailable'].includes(failure);

/** A failure as the key of its text. */
export function failureKey(failure: Failure) {
  switch (failure) {
    case 'too-large':
      return 'tooLarge';
    case 'storage-full':
      return 'storageFull';
    case 'storage-unavailable':
      return 'storageUnavailable';
    default:
      return failure;
  }
}
