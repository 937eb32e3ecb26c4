/** The request headers that only some operations read, with their descriptions in the OpenAPI document. */
export const requestHeaders = {
  'if-match': 'The entity tag of the draft that the request is about; 412 where the draft is another by now.',
  'if-none-match':
    'On a read, the entity tag of what the client has already: 304 where it is the same. On a write, `*`: 412 where there is a draft.',
  accept: '`text/event-stream` for the response in events, as they happen.',
} as const;

export type RequestHeader = keyof typeof requestHeaders;
