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
  const defaults = Object.entries(DEFAULTS).filter(
    ([name]) => !env[name]?.trim() && !env[`${name}_FILE`]?.trim(),
  );
  const service = readSettings({ ...env, ...Object.fromEntries(defaults) });
  if (port !== 0 && port === service.servicePort) {
    throw new StartError(`PORT and SERVICE_PORT are both ${port}; choose two different ports.`);
  }
  return { port, service };
}
