import { BuilderClient } from 'plugin-editor/client.js';
import type { TokenHolder } from './token-holder.ts';

/** Makes a client of the service at `builder`, an address as `findBuilder` returns it. It sends what the token holder holds. */
export const createClient = (builder: string, tokenHolder: TokenHolder): BuilderClient =>
  new BuilderClient({
    baseUrl: builder,
    token: () => tokenHolder.token,
    fetch: (input, init) => {
      const isRead = (init?.method ?? 'GET') === 'GET';
      return tokenHolder.fetch(input, {
        ...init,
        // Browsers use separate connections for requests with and without credentials. The page's scripts came over one with them,
        // so this saves a round trip. The service ignores cookies; other origins get none.
        credentials: isRead ? 'same-origin' : 'omit',
        cache: 'no-store',
      });
    },
  });
