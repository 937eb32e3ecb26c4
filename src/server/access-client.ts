import type * as z from 'zod/mini';
import { checkSegment, httpUrl, segmentsUrl } from '../core/address.ts';
import type { CallOptions } from '../core/client/builder-client.ts';
import { DEFAULT_NAMESPACE } from '../core/editor-url.ts';
import { SchemaError } from '../core/errors.ts';
import { editorTokenSchema } from '../core/records.ts';
import { type SendOptions, requestJson } from '../core/request.ts';
import { type EnvironmentToken, checkEnvironmentToken, withEnvironmentToken } from './environment-token.ts';

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
export interface AccessLocation {
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
   * A new editor token. Rejects with a `TypeError` for a segment that no path can hold, before any request; with
   * `HttpError` (a redirect, too, is not followed), `TimeoutError`, `NetworkError` or `SchemaError` for what comes back;
   * and with the signal's reason when aborted. None of them holds the environment token.
   */
  async getEditorToken(
    { identifier, namespace = DEFAULT_NAMESPACE, ext }: AccessLocation,
    { signal }: CallOptions = {},
  ): Promise<EditorTokenRecord> {
    const url = segmentsUrl(this.#base, [
      'auth',
      'v2',
      'access',
      checkSegment('identifier', identifier),
      checkSegment('namespace', namespace),
      checkSegment('ext', ext),
    ]);
    const { environmentToken, fetch, timeout = DEFAULT_TIMEOUT, retry } = this.#options;
    return withEnvironmentToken(environmentToken, async (headers, secret) => {
      const { data } = await requestJson(editorTokenSchema, {
        url,
        init: { headers },
        signal,
        fetch,
        timeout,
        retry,
      });
      // A proxy or a service that echoes what it was sent would otherwise hand the secret to a browser.
      if (data.token === secret || data.token === headers.authorization) {
        throw new SchemaError(`GET ${url}`, 'expected an editor token, not the environment token', 'token');
      }
      return data;
    });
  }
}
