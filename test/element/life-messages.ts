import { CHANNEL, VERSION } from '../../src/core/messages.ts';

/** Kinds of messages of an editor. */
export const MESSAGES = [
  'hello',
  'open-hello',
  'ready',
  'error',
  'token-request',
  'dirty',
  'clean',
  'save',
  'junk',
] as const;

/** A message of one kind in a session. */
export function message(kind: (typeof MESSAGES)[number], session: string): unknown {
  const all = { channel: CHANNEL, version: VERSION, session };
  switch (kind) {
    case 'hello':
      return { ...all, type: 'hello' };
    case 'open-hello':
      return { ...all, type: 'hello', capabilities: ['open'] };
    case 'error':
      return { ...all, type: 'error', message: 'no' };
    case 'token-request':
      return { ...all, type: 'token-request', reason: 'expired' };
    case 'dirty':
      return { ...all, type: 'dirty', dirty: true };
    case 'clean':
      return { ...all, type: 'dirty', dirty: false };
    case 'junk':
      return { ...all, type: '__proto__' };
    default:
      return { ...all, type: kind };
  }
}
