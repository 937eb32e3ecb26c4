import type { TestContext } from 'node:test';
import { bearer, listen } from '../service/harness.ts';

export const MINUTE = 60_000;

/** One plugin, by its four names. */
export interface PluginNames {
  environment: string;
  tenant: string;
  namespace: string;
  fn: string;
}

export const VICTIM: PluginNames = {
  environment: 'com.acme',
  tenant: 't1',
  namespace: 'default',
  fn: 'add-record',
};

/** A plugin as it stands in the path of every operation, each name encoded. */
export const pathOf = ({ environment, tenant, namespace, fn }: PluginNames): string =>
  [`${environment}.${tenant}`, namespace, fn].map(encodeURIComponent).join('/');

/** The real service over a socket, and tokens for any plugin. */
export async function startWithPlugins(t: TestContext) {
  const running = await listen(t);
  const { send } = running;
  const environments = new Map<string, string>();
  /** Gives an environment a new token, which ends the one before. */
  const renewEnvironmentToken = async (name: string) => {
    const token = await running.environmentToken(name);
    environments.set(name, token);
    return token;
  };
  /** The token of an environment that is good now. */
  const environmentToken = async (name: string) => environments.get(name) ?? renewEnvironmentToken(name);
  const editorToken = async (plugin: PluginNames) =>
    running.editorToken(`/auth/v2/access/${pathOf(plugin)}`, await environmentToken(plugin.environment));
  const save = (path: string, token: string, contents: string, headers: Record<string, string> = {}) =>
    send(
      'POST',
      `/api/v1/draft/${path}`,
      { ...bearer(token), 'content-type': 'application/json', ...headers },
      JSON.stringify({ contents, lang: 'javascript' }),
    );
  return { ...running, environmentToken, renewEnvironmentToken, editorToken, save };
}
