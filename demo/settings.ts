import { StartError, readSettings } from 'plugin-editor-service';
import type { Settings } from 'plugin-editor-service';

export interface DemoSettings {
  /** Port of the vendor's app; 0 for any that is free. */
  port: number;
  /** What the plugin service is started with. */
  service: Settings;
}

/** Where the demo differs from the defaults of the service. */
const DEFAULTS = {
  // No requests, and no warnings about isolation, because the plugins are the user's own.
  LOG_LEVEL: 'error',
  // "Save as test" in the editor needs the inputs of runs.
  RUN_RECORDS: 'payloads',
};

/** The vendor's back end and its page expect the service there. */
const LOOPBACK = ['localhost', '127.0.0.1'];

/**
 * What the environment asks for, defaults filled in.
 * @throws StartError that names the variable and says what it must be.
 */
export function readDemoSettings(env: Record<string, string | undefined>): DemoSettings {
  const text = env['PORT']?.trim();
  const port = text ? Number(text) : 5173;
  if (text && (!/^\d+$/.test(text) || port > 65_535)) {
    throw new StartError(`PORT is "${text}"; it must be a port: a whole number from 0 to 65535.`);
  }
  const isSet = (name: string) => Boolean(env[name]?.trim() || env[`${name}_FILE`]?.trim());
  const defaults = Object.entries(DEFAULTS).filter(([name]) => !isSet(name));
  const service = readSettings({ ...env, ...Object.fromEntries(defaults) });
  if (port !== 0 && port === service.servicePort) {
    throw new StartError(`PORT and SERVICE_PORT are both ${port}; choose two different ports.`);
  }
  const { publicUrl, serviceHost } = service;
  for (const [name, host] of [
    ['PUBLIC_URL', publicUrl && new URL(publicUrl).hostname],
    ['SERVICE_HOST', serviceHost],
  ] as const) {
    if (host === undefined || LOOPBACK.includes(host)) continue;
    throw new StartError(
      `${name} names "${host}", and the demo is only for this machine; leave it out, or run the service without the demo, as docs/service/README.md says.`,
    );
  }
  return { port, service };
}
