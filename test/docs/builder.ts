import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { listen } from '../../service/src/http/listen.ts';
import { createService } from '../../service/src/http/create-service.ts';
import { provisionEnvironmentToken } from '../../service/src/accounts/environment-token.ts';
import { openStorage } from '../../service/src/storage/storage.ts';
import { sharedToolProcesses } from '../service/tool-processes.ts';

/** The environment of the documentation. */
export const ENVIRONMENT = 'com.acme';

export interface Builder extends AsyncDisposable {
  origin: string;
  environmentToken: string;
  /** Calls it with a token; a path like `/api/v1/features`. */
  call: (path: string, token: string, body?: string) => Promise<Response>;
}

/** The real plugin service, on a port and with a file of its own. */
export async function startBuilder(): Promise<Builder> {
  const directory = await mkdtemp(join(tmpdir(), 'plugin-editor-docs-data-'));
  const storage = await openStorage({ engine: 'sqlite', file: join(directory, 'service.sqlite') });
  const hosts: string[] = [];
  const service = createService({
    storage,
    editorAssets: new Map(),
    hosts,
    toolProcesses: sharedToolProcesses(),
  });
  const { port, close } = await listen(service, 0, 'SERVICE_PORT');
  hosts.push(`127.0.0.1:${port}`);
  const origin = `http://127.0.0.1:${port}`;
  return {
    origin,
    environmentToken: await provisionEnvironmentToken(storage, ENVIRONMENT),
    call: (path, token, body) =>
      fetch(origin + path, {
        method: body === undefined ? 'GET' : 'POST',
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
        ...(body !== undefined && { body }),
      }),
    [Symbol.asyncDispose]: async () => {
      await close();
      await service.close();
      await storage.close();
      await rm(directory, { recursive: true, force: true });
    },
  };
}
