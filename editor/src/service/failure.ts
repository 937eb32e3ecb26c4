import { HttpError, NetworkError, TimeoutError } from 'plugin-editor/client.js';
import { texts } from '../locales/locale.ts';
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
  /** The tenant is suspended. */
  | 'tenant-suspended'
  /** The tenant has as many plugins as it may have. */
  | 'too-many-plugins'
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

/** Failures of their own among those with status 403, by their codes. */
const FORBIDDEN = ['storage-full', 'tenant-suspended', 'too-many-plugins'] as const;

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
      return FORBIDDEN.find((code) => code === error.code) ?? 'forbidden';
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

/** What the service says of a request that it refused, where that says what was wrong with it. */
export const refusalDetail = (error: unknown): string | undefined =>
  failureOf(error) === 'refused' ? (error as HttpError).detail : undefined;

/** A text about a refusal, with what the service says of it. */
export const withDetail = (text: string, detail: string | undefined): string =>
  detail ? `${text} ${texts().common.serviceSays(detail)}` : text;

/** A failure as the key of its text. */
export function failureKey(failure: Failure) {
  switch (failure) {
    case 'too-large':
      return 'tooLarge';
    case 'storage-full':
      return 'storageFull';
    case 'tenant-suspended':
      return 'tenantSuspended';
    case 'too-many-plugins':
      return 'tooManyPlugins';
    case 'storage-unavailable':
      return 'storageUnavailable';
    default:
      return failure;
  }
}
