import type * as z from 'zod/mini';
import { baseOf, DEFAULT_NAMESPACE, httpUrl } from '../core/url.ts';
import type { CallOptions } from '../core/client/plugin-client.ts';
import { encodedPath, queryOf } from '../core/client/operation.ts';
import { editorTokenSchema } from '../core/records.ts';
import type { SendOptions } from '../core/request.ts';
import {
  type EnvironmentToken,
  checkEnvironmentToken,
  checkNotSecret,
  sendWithEnvironmentToken,
} from './environment-token.ts';
import { type Grant, checkGrant, checkGranted } from './permissions.ts';

export interface AccessClientOptions extends SendOptions {
  /** Base address of the builder interface, http or https; a path in it is kept. */
  builderUrl: string;
  /** Environment token, or a function that returns one for each call (rotation). */
  environmentToken: EnvironmentToken;
  /**
   * For the whole call, in ms; default 10000: the function `environmentToken`, all tries and the waits between them. It is less than
   * the 15000 that a page waits for its token endpoint, so that the endpoint has time to answer with the reason.
   */
  timeout?: number | undefined;
}

/** What an editor token is for, as in `GET /auth/v2/access/…`. */
export interface AccessLocation extends Grant {
  /** The plugin's owner: environment, a period, tenant. */
  identifier: string;
  /** Default: `default`. */
  namespace?: string | undefined;
  /** The third segment of the path: the plugin's name, for the plugin service. */
  ext: string;
}

/** The response of the access interface, with all its fields. */
export type EditorTokenRecord = z.output<typeof editorTokenSchema>;

/** How long a call may take by default, in ms. */
const ACCESS_TIMEOUT = 10_000;

/** A client of the access interface, which gives editor tokens. For servers only, because it needs the environment token. */
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
   * Gets a new editor token. Before any request, rejects with a `TypeError` for a segment that no path can hold, and for a field
   * that is unknown or has no value; and with an `Error` whose `cause` is what the function `environmentToken` threw. After that,
   * rejects with `HttpError` (also for a redirect, which is not followed), `TimeoutError`, `NetworkError` or `SchemaError`, such as
   * for a response without the requested permissions and actor; and with the signal's reason when aborted. None of these errors
   * holds the environment token.
   */
  async getEditorToken(location: AccessLocation, { signal }: CallOptions = {}): Promise<EditorTokenRecord> {
    const { identifier, namespace = DEFAULT_NAMESPACE, ext } = location;
    const grant = checkGrant(location, ['identifier', 'namespace', 'ext']);
    const { permissions, actor } = grant;
    const path = encodedPath('/auth/v2/access', { identifier, namespace, ext });
    const label = `GET ${baseOf(this.#base)}${path}`;
    const { environmentToken, fetch, timeout = ACCESS_TIMEOUT, retry } = this.#options;
    const { data } = await sendWithEnvironmentToken(
      { path: path + queryOf({ permissions: permissions?.join(), actor }), schema: editorTokenSchema },
      {
        base: this.#base,
        environmentToken,
        fetch,
        timeout,
        retry,
        tryFor: timeout,
        signal,
        check: (record, token) => {
          checkNotSecret(record.token, token, label);
          checkGranted(grant, record, label);
        },
      },
    );
    return data;
  }
}
