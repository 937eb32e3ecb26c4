/** A fault that the person who starts the demo can mend; its message says how. */
export class StartError extends Error {
  override readonly name = 'StartError';
}

export interface Settings {
  /** Port of the vendor's app; 0 for any that is free. */
  port: number;
  /** Port of the plugin service; 0 for any that is free. */
  servicePort: number;
  /** How long an editor token lives, in seconds. */
  editorTokenTtl: number;
  /** Origins that may put the editor in a frame, besides those of this machine. */
  editorAncestors: string[];
}

type Environment = Record<string, string | undefined>;

/**
 * What the environment asks for, defaults filled in.
 * @throws StartError that names the variable and says what it must be.
 */
export function readSettings(env: Environment): Settings {
  const port = wholeNumber(env, 'PORT', 5173, 0, 65_535, 'a port');
  const servicePort = wholeNumber(env, 'SERVICE_PORT', 8082, 0, 65_535, 'a port');
  if (port !== 0 && port === servicePort) {
    throw new StartError(`PORT and SERVICE_PORT are both ${port}; choose two different ports.`);
  }
  return {
    port,
    servicePort,
    editorTokenTtl: wholeNumber(env, 'EDITOR_TOKEN_TTL', 900, 1, 10 ** 9, 'a time in seconds'),
    editorAncestors: (env['EDITOR_ANCESTORS'] ?? '').split(/[\s,]+/).filter(Boolean),
  };
}

function wholeNumber(
  env: Environment,
  name: string,
  byDefault: number,
  least: number,
  most: number,
  what: string,
): number {
  const text = env[name]?.trim();
  if (!text) return byDefault;
  const value = Number(text);
  if (!/^\d+$/.test(text) || value < least || value > most) {
    throw new StartError(
      `${name} is "${text}"; it must be ${what}: a whole number from ${least} to ${most}.`,
    );
  }
  return value;
}
