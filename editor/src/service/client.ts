import { BuilderClient } from 'plugin-editor/client.js';
import type { BearerAuth } from './bearer-auth.ts';

/** Makes a client of the service at `builder`, an address as `findBuilder` returns it. It sends what the token holder holds. */
export const createClient = (builder: string, auth: BearerAuth): BuilderClient =>
  new BuilderClient({
    baseUrl: builder,
    token: () => auth.token,
    fetch: (input, init) => {
      const isRead = (init?.method ?? 'GET') === 'GET';
      return auth.fetch(input, {
        ...init,
        // Browsers use separate connections for requests with and without credentials. The page's scripts came over one with them,
        // so this saves a round trip. The service ignores cookies; other origins get none.
        credentials: isRead ? 'same-origin' : 'omit',
        cache: 'no-store',
      });
    },
  });
