import * as fc from 'fast-check';

// Arbitrary values of what pages and servers may provide.

/** Whole code points, so that no string holds half of a pair. */
export const text = fc.string({ unit: 'binary', minLength: 1, maxLength: 20 });
export const optional = fc.option(fc.oneof(text, fc.constantFrom('default', '+', '&token=x', '%2e')), {
  nil: undefined,
});

export const webUrl = fc.webUrl({
  validSchemes: ['http', 'https'],
  withQueryParameters: true,
  withFragments: true,
});
export const page = fc.oneof(
  webUrl,
  fc
    .tuple(webUrl, fc.constantFrom('token=x', '%74oken=x', 'fn', 'a=1', '?b', '', 'ident&x=%zz'))
    .map(([url, more]) => {
      const [before = '', fragment] = url.split('#');
      return `${before}${before.includes('?') ? '&' : '?'}${more}${fragment === undefined ? '' : `#${fragment}`}`;
    }),
);

/** URLs, and texts that only look like one. */
const SCHEMES = [
  'http:',
  'https:',
  'HTTP:',
  'javascript:',
  'data:',
  'blob:',
  'file:',
  'about:',
  'vbscript:',
  'ws:',
  '',
];
const trickyAddress = fc.oneof(
  fc
    .tuple(
      fc.constantFrom('', ' ', '\t', '\0', '\u0001', '\n'),
      fc.constantFrom(...SCHEMES),
      fc.constantFrom('//', '/', '\\\\', '', '///', '/\\', '\t//', 'https://'),
      fc.constantFrom('', 'a@', 'a:b@', '@', 'e.test:80@', '%40'),
      fc.constantFrom(
        'e.test',
        'evil.test',
        'e.test:8080',
        '127.1',
        '[::1]',
        'ｅ.test',
        '',
        'e.test\\.evil.test',
        '..',
      ),
      fc.constantFrom(
        '',
        '/',
        '/editor',
        '?a=1',
        '#x',
        '/..//evil.test',
        '\\@evil.test',
        '?token=1&builder=javascript:1',
      ),
    )
    .map((parts) => parts.join('')),
  fc.string({ unit: 'binary', maxLength: 30 }),
  fc.webUrl(),
  fc.constantFrom(
    'javascript:alert(1)',
    'java\nscript:alert(1)',
    'data:text/html,x',
    '//evil.test',
    'alert(1)',
  ),
);

const anything = fc.oneof(fc.string({ unit: 'binary', maxLength: 20 }), trickyAddress);

/** Mostly valid values: otherwise nearly every combination would be rejected for one of them. */
const mostly = (good: readonly string[], other: fc.Arbitrary<string>): fc.Arbitrary<string> =>
  fc.oneof({ weight: 5, arbitrary: fc.constantFrom(...good) }, { weight: 1, arbitrary: other });

/** Values of every attribute that becomes part of a URL. */
export const rawAttributes = fc.record({
  editorUrl: trickyAddress,
  builder: mostly(['https://builder.test', 'http://builder.test/?token=x#&fn=y'], trickyAddress),
  ident: mostly(['com.example.a', 'a.b?token=x', 'a.b#', 'a.\n&fn=x'], anything),
  namespace: fc.option(anything),
  fn: mostly(['f', '../x', 'a&builder=https://evil.test', '\u2028'], anything),
  template: fc.option(anything),
  tokenEndpoint: mostly(['/token'], trickyAddress),
  tokenDelivery: fc.constantFrom('url', 'message', 'MESSAGE', null),
  preload: fc.boolean(),
});

/** The oracle: where a URL leads according to the platform. */
export const originOf = (address: string, base: string): string | undefined =>
  URL.canParse(address, base) ? new URL(address, base).origin : undefined;

/** Throws unless a frame of an element with that `editor-url` may have this address. */
export function checkFrameAddress(address: string, editorUrl: string, base: string): void {
  const { protocol, username, password, origin } = new URL(address);
  if (!/^https?:$/.test(protocol)) throw new Error(`A frame at ${protocol}`);
  if (username + password) throw new Error('A frame whose address holds a user');
  if (origin !== originOf(editorUrl, base))
    throw new Error(`A frame at ${origin}, which is not that of ${editorUrl}`);
}

export const almostToken = fc.record(
  {
    token: fc.oneof({ weight: 4, arbitrary: fc.string({ unit: 'binary' }) }, fc.jsonValue()),
    expires_in: fc.jsonValue(),
    expires_at: fc.oneof(
      fc.jsonValue(),
      fc.date({ noInvalidDate: true }).map((date) => date.toISOString()),
    ),
  },
  { requiredKeys: [] },
);
/** Mostly of the right type: otherwise a record of several fields would hardly ever be valid. */
const nearly = <T>(right: fc.Arbitrary<T>): fc.Arbitrary<unknown> =>
  fc.oneof({ weight: 4, arbitrary: right }, { weight: 1, arbitrary: fc.jsonValue() });

/** A record that has most of its fields. */
const almost = (fields: Record<string, fc.Arbitrary<unknown>>): fc.Arbitrary<Record<string, unknown>> =>
  fc.oneof(
    { weight: 4, arbitrary: fc.record(fields) },
    { weight: 1, arbitrary: fc.record(fields, { requiredKeys: [] }) },
  );

const words = fc.string({ unit: 'binary' });
const almostLanguage = almost({
  identifier: fc.oneof({ weight: 9, arbitrary: words }, fc.jsonValue()),
  pretty: words,
  short: words,
});
const almostFeatures = almost({
  features: nearly(fc.array(words)),
  languages: nearly(fc.array(almostLanguage, { maxLength: 3 })),
});
const almostTest = fc.record({ name: words, description: words, payload: words }, { requiredKeys: [] });
const almostSource = fc.oneof(
  { weight: 1, arbitrary: almost({ contents: nearly(words), lang: nearly(words) }) },
  {
    weight: 1,
    arbitrary: almost({ contents: nearly(words), lang: nearly(words), tests: nearly(fc.array(almostTest)) }),
  },
);
const HOSTILE = [
  '{"__proto__":{"token":"t"}}',
  '{"constructor":{"prototype":{"token":"t"}}}',
  '"',
  '[[[[',
  '\ufeff{}',
];

/** The bytes of a response: JSON of nearly the right shape, JSON of any shape, and no JSON. */
export const responseBytes = fc.oneof(
  fc
    .oneof(almostToken, almostFeatures, almostSource, fc.jsonValue())
    .map((value) => new TextEncoder().encode(JSON.stringify(value))),
  fc.uint8Array({ maxLength: 60 }).map((bytes) => new Uint8Array(bytes)),
  fc.constantFrom(...HOSTILE).map((value) => new TextEncoder().encode(value)),
);

const headerValue = fc.oneof(
  fc.stringMatching(/^[!-~]{0,12}$/),
  fc.constantFrom('0', '1', '-1', '1e9', '99999999999999999999', 'Thu, 01 Jan 1970 00:00:00 GMT', 'soon'),
);

export interface ArbitraryResponse {
  status: number | 'redirect';
  headers: Record<string, string>;
  bytes: Uint8Array<ArrayBuffer>;
  /** Whether reading its body ends in an error. */
  breaks: boolean;
}

export const arbitraryResponse: fc.Arbitrary<ArbitraryResponse> = fc.record({
  status: fc.oneof(
    { weight: 6, arbitrary: fc.constant(200) },
    fc.integer({ min: 200, max: 599 }),
    fc.constantFrom(204, 301, 302, 400, 401, 403, 404, 408, 429, 500, 503, 'redirect' as const),
  ),
  headers: fc.dictionary(
    fc.constantFrom('retry-after', 'date', 'content-type', 'content-length', 'location', 'x-any'),
    headerValue,
  ),
  bytes: responseBytes,
  breaks: fc.integer({ min: 0, max: 9 }).map((n) => n === 0),
});

/** The response as a browser passes it to a script. */
export function responseOf({ status, headers, bytes, breaks }: ArbitraryResponse): Response {
  if (status === 'redirect') {
    // Browsers represent a redirect that is not followed like this.
    return Object.defineProperties(new Response(null), {
      status: { value: 0 },
      ok: { value: false },
      type: { value: 'opaqueredirect' },
    });
  }
  const empty = [204, 205, 304].includes(status);
  const body = breaks
    ? new ReadableStream({
        start: (controller) => {
          controller.enqueue(bytes);
          controller.error(new TypeError('broken'));
        },
      })
    : bytes;
  return new Response(empty ? null : body, { status, headers });
}
