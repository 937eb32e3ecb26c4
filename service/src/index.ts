import { createService } from './http/app.ts';
import { readEditorFiles } from './http/editor-files.ts';
import { listen } from './http/listen.ts';
import { provisionEnvironmentToken } from './accounts/environment-token.ts';
import { openStorage } from './storage/storage.ts';
import { StartError } from './start-error.ts';
import type { Settings } from './settings/settings.ts';

export { readSettings } from './settings/settings.ts';
export type { Settings } from './settings/settings.ts';
export { StartError } from './start-error.ts';

/** A plugin service that serves. */
export interface RunningService {
  /** The port on this machine's loopback addresses. */
  readonly port: number;
  /**
   * Makes a token for an environment, which is made known if it is not yet. It takes the place of the one that an earlier
   * call made; one that the environment's owner made stays good.
   */
  createEnvironmentToken(environment: string): Promise<string>;
  /** Takes no new request, lets those under way end for a moment, and ends what the service runs. */
  close(): Promise<void>;
}

/**
 * Starts the plugin service: builder and access interfaces at the root of its origin, the execution interface under
 * `/exec`, the editor under `/editor/`.
 * @throws StartError when a setting cannot be used; its message says what would be right.
 */
export async function startService(settings: Settings): Promise<RunningService> {
  const storage = await openStorage(settings.database);
  try {
    const hosts: string[] = [];
    const service = plainly(() =>
      createService({
        storage,
        editorAssets: readEditorFiles(),
        hosts,
        editorTokenTtl: settings.editorTokenTtl,
        editorAncestors: settings.editorAncestors,
        editorAddressTokens: settings.editorAddressTokens,
      }),
    );
    try {
      const { port, close } = await listen(service, settings.servicePort, 'SERVICE_PORT');
      hosts.push(...['localhost', '127.0.0.1', '[::1]'].map((host) => `${host}:${port}`));
      // So that the first build does not wait for its compiler.
      service.warmUp();
      return {
        port,
        createEnvironmentToken: async (environment) => provisionEnvironmentToken(storage, environment),
        close: async () => {
          await close();
          await service.close();
          await storage.close();
        },
      };
    } catch (error) {
      await service.close();
      throw error;
    }
  } catch (error) {
    await storage.close();
    throw error;
  }
}

/** For steps whose errors are all about what the settings asked for. */
function plainly<T>(step: () => T): T {
  try {
    return step();
  } catch (error) {
    throw new StartError((error as Error).message, { cause: error });
  }
}
