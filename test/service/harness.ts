import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { request as httpRequest } from 'node:http';
import type { IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import type { HttpLimits } from '../../service/src/http/admission.ts';
import { createHttpServer } from '../../service/src/http/http-server.ts';
import { createService } from '../../service/src/http/create-service.ts';
import type { ServiceOptions } from '../../service/src/http/create-service.ts';
import { provisionEnvironmentToken } from '../../service/src/accounts/environment-token.ts';
import type { StorageOptions } from '../../service/src/storage/storage.ts';
import { updateTenant } from '../../service/src/storage/tables/tenants.ts';
import {
  cleanUpFirst,
  databaseWithSchema,
  engineUnderTest,
  openDuring,
  patientStorage,
} from './storage/databases.ts';
import type { Cleanup } from './storage/databases.ts';
import { patientLimits, sharedToolProcesses, withOwnSandbox } from './tool-processes.ts';

export const origin = 'http://localhost:8082';
export const draftPath = '/api/v1/draft/com.acme.t1/default/add-record';
export const accessPath = '/auth/v2/access/com.acme.t1/default/add-record';
export const source = { contents: 'export const run = (input) => input;\n', lang: 'javascript' };

export function temporaryDirectory(t: Cleanup, parent = tmpdir()): string {
  const directory = mkdtempSync(join(parent, 'plugin-service-'));
  // Processes that the service starts run as another user when the tests run as root.
  chmodSync(directory, 0o755);
  cleanUpFirst(t, () => rmSync(directory, { recursive: true, force: true }));
  return directory;
}

/**
 * A service on a real database, with a clock that the test turns, and tokens made the way that the demo gets them. It shares its
 * compilers and runners with the others of the process. With other limits of runs it has runners of its own; with
 * `toolProcesses: undefined` it has all of its own.
 * `storageOptions`: of the storage, where it is not given itself.
 */
export async function startService(
  t: TestContext,
  options: Partial<ServiceOptions> = {},
  storageOptions: StorageOptions = {},
) {
  const address = await databaseWithSchema(t, engineUnderTest());
  const storage = options.storage ?? (await openDuring(t, address, { ...patientStorage, ...storageOptions }));
  const clock = { now: Date.UTC(2026, 0, 1) };
  const errors: unknown[] = [];
  const needsOwnProcesses = 'toolProcesses' in options || options.metrics !== undefined;
  const needsOwnSandbox =
    !needsOwnProcesses && (options.runLimits !== undefined || options.waiting !== undefined);
  const ownSandbox = needsOwnSandbox ? withOwnSandbox(options) : undefined;
  const service = createService({
    storage,
    toolProcesses: needsOwnProcesses ? undefined : (ownSandbox ?? sharedToolProcesses()),
    // Those of the shared runners, so that a tenant may have up to as much.
    ...(!needsOwnProcesses && !ownSandbox && { runLimits: patientLimits }),
    editorAssets: new Map(),
    hosts: ['localhost:8082'],
    checksResponses: true,
    now: () => clock.now,
    // A busy machine is no reason to think that the database is lost.
    rateLeaseTimeout: 30_000,
    onError: (error) => errors.push(error),
    ...options,
  });
  cleanUpFirst(t, () => service.close());
  if (ownSandbox) cleanUpFirst(t, () => ownSandbox.sandbox.close());
  const fetch = async (path: string, init: RequestInit = {}) =>
    service.fetch(new Request(origin + path, init));
  const environmentToken = (environment = 'com.acme') =>
    provisionEnvironmentToken(storage, environment, clock.now);
  const editorToken = async (path = accessPath, token?: string) => {
    const response = await fetch(path, { headers: bearer(token ?? (await environmentToken())) });
    return ((await response.json()) as { token: string }).token;
  };
  const save = (
    token: string,
    record: unknown = source,
    headers: Record<string, string> = {},
    path = draftPath,
  ) =>
    fetch(path, {
      method: 'POST',
      headers: { ...bearer(token), 'content-type': 'application/json', ...headers },
      body: JSON.stringify(record),
    });
  return { address, storage, service, clock, errors, fetch, environmentToken, editorToken, save };
}

export const bearer = (token: string) => ({ authorization: `Bearer ${token}` });

/** Gives the runs of the tenant `com.acme.t1` a limit of time, in ms. */
export async function limitRuns(
  { storage }: Awaited<ReturnType<typeof startService>>,
  runTimeoutMs: number,
): Promise<void> {
  const key = { environment: 'com.acme', tenant: 't1' };
  await storage.transaction((db) => updateTenant(db, key, { limits: { runTimeoutMs } }));
}

/** An error of the service as a test looks at it; `path` where the error has one. */
interface FoundError {
  readonly status: number;
  readonly code: string;
  readonly message: string;
  readonly path?: string;
}

/** The status and error code of a response, having checked that it is an error as every error of the service is. */
export async function errorOf(response: Response): Promise<FoundError> {
  const { error, ...others } = (await response.json()) as {
    error: { code: string; message: string; path?: string; requestId: string };
  };
  if (error.requestId !== response.headers.get('x-request-id')) {
    throw new Error('The error does not name its request.');
  }
  const { code, message, path, requestId: _, ...more } = error;
  if (Object.keys({ ...others, ...more }).length || !code || !message) {
    throw new Error('This is not { error: { code, message, path?, requestId } } alone.');
  }
  if (!response.headers.get('content-type')?.startsWith('application/json'))
    throw new Error('The error is not JSON.');
  return { status: response.status, code, message, ...(path !== undefined && { path }) };
}

/** Serves a service over a real socket, and returns how to send it a request target as it is, unresolved. */
export async function listen(
  t: TestContext,
  options: Partial<ServiceOptions> = {},
  limits: Partial<HttpLimits> = {},
) {
  const hosts: string[] = [];
  const running = await startService(t, { hosts, ...options });
  const { server } = createHttpServer(running.service, { limits });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  cleanUpFirst(t, () => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  hosts.push(`127.0.0.1:${port}`);
  const send = (
    method: string,
    target: string,
    headers: Record<string, string> = {},
    body?: Uint8Array | string,
  ) =>
    new Promise<{ status: number; headers: IncomingHttpHeaders; body: string }>((resolve, reject) => {
      const request = httpRequest({ host: '127.0.0.1', port, method, path: target, headers }, (response) => {
        let text = '';
        response.setEncoding('utf8').on('data', (part: string) => (text += part));
        response.on('end', () =>
          resolve({ status: response.statusCode ?? 0, headers: response.headers, body: text }),
        );
      });
      request.on('error', reject).end(body);
    });
  /** An editor token, by default of the one plugin, got by HTTP as the vendor's app gets it. */
  const editorToken = async (path = accessPath, token?: string) => {
    const { status, body } = await send('GET', path, bearer(token ?? (await running.environmentToken())));
    if (status !== 200) throw new Error(`${path} was answered with ${status}: ${body}`);
    return (JSON.parse(body) as { token: string }).token;
  };
  return { ...running, port, send, editorToken };
}
