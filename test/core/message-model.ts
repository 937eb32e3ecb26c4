/** The fields that every message of an editor has. */
export const WHOLE = { channel: 'plugin-editor', version: 1 };
export const SESSION = 's';
export const REASONS = ['missing', 'expired', 'refused'];
export const MESSAGE_TYPES = [
  'hello',
  'ready',
  'error',
  'token-request',
  'dirty',
  'save',
  'build',
  'test',
  'deploy',
  'save-result',
  'live',
  'assist',
  'assist-stop',
] as const;

/** An independent description of the protocol, to compare with. */
export function fitsProtocol(value: Record<string, unknown>): boolean {
  const text = (name: string) => typeof value[name] === 'string';
  const maybe = (name: string) => value[name] === undefined || text(name);
  if (value['type'] === 'hello') {
    if (value['version'] !== 1) return false;
    const list = value['capabilities'];
    return list === undefined || (Array.isArray(list) && list.every((each) => typeof each === 'string'));
  }
  if (value['session'] !== SESSION) return false;
  if (!['deploy', 'live'].includes(value['type'] as string) && value['version'] !== 1) return false;
  switch (value['type']) {
    case 'ready':
    case 'save':
      return true;
    case 'error':
      return text('message');
    case 'token-request':
      return REASONS.includes(value['reason'] as string);
    case 'dirty':
      return typeof value['dirty'] === 'boolean';
    case 'build':
      return typeof value['succeeded'] === 'boolean' && text('outputLog');
    case 'test':
      return maybe('name') && maybe('result');
    case 'save-result':
      return text('request');
    case 'deploy':
      return text('version');
    case 'assist':
      return ['request', 'prompt', 'language', 'source'].every(text);
    case 'assist-stop':
      return text('request');
    case 'live':
      return text('version') || value['version'] === null;
    default:
      return false;
  }
}
