/** The request headers that only some operations read, with their descriptions in the OpenAPI document. */
export const requestHeaders = {
  'if-match': 'The entity tag of the draft that the client knows: 412 if the draft has another one by now.',
  'if-none-match':
    'On a read, the entity tag of what the client has already: 304 if the draft still has it. On a write, `*`: 412 if there is a draft.',
  'x-actor':
    'With an environment token: your id for the person on whose behalf you ask, percent-encoded, 1 to 200 characters. Pins, versions, tenants and the audit log keep it.',
  'x-rollout-key':
    'Decides which version runs during a rollout: the same key, such as the id of a customer, gets the same version while the share stays. Percent-encoded unless it is ASCII.',
  traceparent:
    'The trace that the request belongs to, as W3C Trace Context says. The log line, the record of the run and the calls of the plugin have it.',
} as const;

export type RequestHeader = keyof typeof requestHeaders;
