import type * as z from 'zod/mini';
import { checkSegment, httpUrl, segmentsUrl } from '../core/address.ts';
import type { CallOptions } from '../core/client/builder-client.ts';
import { rejectingFetch, toHttpError } from '../core/client/error-body.ts';
import { DEFAULT_NAMESPACE } from '../core/editor-url.ts';
import { queryOf } from '../core/client/operation.ts';
import { editorTokenSchema } from '../core/records.ts';
import { type SendOptions, requestJson } from '../core/request.ts';
import {
  type EnvironmentToken,
  checkEnvironmentToken,
  checkNotSecret,
  withEnvironmentToken,
} from './environment-token.ts';
import { type Grant, checkGrant, checkGranted } from './permissions.ts';

export interface AccessClientOptions extends SendOptions {
  /** Base address of the builder interface, http or https; a path in it is kept. */
  builderUrl: string;
  /** Environment token, or a function that gives one for each call (rotation). */
  environmentToken: EnvironmentToken;
  /**
   * For one try, in ms; default 10000: below the 15000 that a page waits for its token endpoint, so that the page still
   * hears what went wrong.
   */
  timeout?: number | undefined;
}

/** What an editor token is asked for (interface: Access interface). */
export interface AccessLocation extends Grant {
  /** The plugin's owner: environment, a period, tenant. */
  identifier: string;
  /** Default: `default`. */
  namespace?: string | undefined;
  /** The third segment, whose meaning the interface does not show; the token endpoint sends the plugin's name. */
  ext: string;
}

/** An editor token as it was answered, with the fields that the interface does not name. */
export type EditorTokenRecord = z.output<typeof editorTokenSchema>;

const DEFAULT_TIMEOUT = 10_000;

/** The access interface, which gives editor tokens. For servers only: it is called with the environment token. */
export class AccessClient {
  #base: URL;
  #options: AccessClientOptions;

  /** @throws TypeError when `builderUrl` is not an http or https address, or `environmentToken` cannot be sent. */
  constructor(options: AccessClientOptions) {
    this.#base = httpUrl('builderUrl', options.builderUrl);
    checkEnvironmentToken(options.environmentToken);
    this.#options = options;
  }

  /**
   * A new editor token. Rejects with a `TypeError` for a segment that no path can hold, and for a field that is not known or
   * has no value, before any request; with `HttpError` (a redirect, too, is not followed), `TimeoutError`, `NetworkError` or
   * `SchemaError` for what comes back, such as a token that does not say back the permissions and the actor that it was asked
   * for; and with the signal's reason when aborted. None of them holds the environment token.
   */
  async getEditorToken(location: AccessLocation, { signal }: CallOptions = {}): Promise<EditorTokenRecord> {
    const { identifier, namespace = DEFAULT_NAMESPACE, ext } = location;
    const grant = checkGrant(location, ['identifier', 'namespace', 'ext']);
    const { permissions, actor } = grant;
    const address = segmentsUrl(this.#base, [
      'auth',
      'v2',
      'access',
      checkSegment('identifier', identifier),
      checkSegment('namespace', namespace),
      checkSegment('ext', ext),
    ]);
    const url = address + queryOf({ permissions: permissions?.join(), actor });
    const { environmentToken, fetch, timeout = DEFAULT_TIMEOUT, retry } = this.#options;
    return withEnvironmentToken(environmentToken, async (headers, secret) => {
      const rejecting = rejectingFetch(
        (response, where, limit) => toHttpError(response, where, limit, secret),
        fetch,
      );
      const { data } = await requestJson(editorTokenSchema, {
        url,
        init: { headers },
        signal,
        fetch: rejecting,
        timeout,
        retry,
      });
      checkNotSecret(data.token, secret, `GET ${address}`);
      checkGranted(grant, data, `GET ${address}`);
      return data;
    });
  }
}
