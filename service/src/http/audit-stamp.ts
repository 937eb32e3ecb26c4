import type { Context } from 'hono';
import type { AuditStamp } from '../audit/entries.ts';
import type { EditorCaller, EnvironmentCaller } from './auth.ts';
import type { ServiceContext } from './context.ts';
import { requestInfo } from './request-info.ts';

/** Who makes a request, when, and which it is, for the entries that it makes in the audit log. */
export function auditStamp(
  c: Context,
  caller: EditorCaller | EnvironmentCaller,
  { now }: Pick<ServiceContext, 'now'>,
): AuditStamp {
  const { id, via } = requestInfo(c);
  const { actor } = caller;
  const who = {
    ...(via && { via }),
    ...(caller.kind === 'environment' && { holder: caller.holder }),
    ...(actor !== undefined && { actor }),
  };
  return {
    by: { kind: caller.kind === 'editor' ? 'editor-token' : 'environment-token', ...who },
    at: now(),
    requestId: id,
  };
}
