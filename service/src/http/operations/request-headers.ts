/** The request headers that only some operations read, with their descriptions in the OpenAPI document. */
export const requestHeaders = {
  'if-match': 'The entity tag of the draft that the request is about; 412 where the draft is another by now.',
  'if-none-match':
    'On a read, the entity tag of what the client has already: 304 where it is the same. On a write, `*`: 412 where there is a draft.',
  'x-actor':
    'With an environment token: the vendor’s id for the person on whose behalf it asks, percent-encoded. Versions, pins and the audit log keep it.',
  'x-rollout-key':
    'While a version is rolled out, decides whether it runs: the same key gets the same version, such as the id of a customer. Percent-encoded where it is not ASCII.',
  traceparent:
    'The trace that the request belongs to, as W3C Trace Context says. It is in the log line, in the record of the run, and in the calls of the plugin.',
} as const;

export type RequestHeader = keyof typeof requestHeaders;
