import { HttpError, NetworkError, TimeoutError } from '../../../src/core/errors.ts';
import { DraftConflict } from '../draft/draft-store.ts';

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

/** The words of each failure on a page that could not open its plugin. */
export const openFailureWords: Record<Failure, { title: string; text: string }> = {
  connection: {
    title: 'The plugin service cannot be reached',
    text: 'Check your connection, then try again.',
  },
  service: {
    title: 'The plugin service has a problem',
    text: 'It did not give a usable answer. Nothing of yours is lost; try again in a moment.',
  },
  busy: {
    title: 'The plugin service is busy',
    text: 'It has too much to do at the moment. Nothing of yours is lost; try again in a moment.',
  },
  session: {
    title: 'Your session ended',
    text: 'Open the editor again from the page you came from.',
  },
  forbidden: {
    title: 'You cannot edit this plugin',
    text: 'The editor was opened with access to something else. Open it again from the page you came from.',
  },
  refused: {
    title: 'The plugin service refused to open this plugin',
    text: 'Its address may be wrong. Open the editor again from the page you came from.',
  },
  // The last two are answers to saving; they are here so that every failure has words.
  conflict: { title: 'The plugin was changed elsewhere', text: 'Try again to see its present state.' },
  'too-large': { title: 'The plugin is too large', text: 'The service will not hand it out.' },
};
