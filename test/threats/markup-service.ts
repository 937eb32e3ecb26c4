import type { HTTPRequest, Page } from 'puppeteer-core';

/** HTML that runs a script wherever it is read as HTML, whatever stands around it. The label says where it was shown. */
export const markup = (label: string): string =>
  `"'></textarea></title></style><img data-xss="${label}" src=x onerror="window.__xss=1">` +
  `<svg data-xss onload="__xss=1"></svg><script data-xss>__xss=1</script>\${__xss=1}&lt;img data-xss&gt;`;

const json = (body: unknown) => ({
  status: 200,
  contentType: 'application/json',
  headers: { 'access-control-allow-origin': '*' },
  body: JSON.stringify(body),
});

const TENANT = 'com.example.customer-7';
/** A plugin may have any name; this one is the service's own business, too. */
export const PLUGIN = markup('plugin');

/** What the vendor's back end says of all plugins, or of the one that is named. */
function pluginsResponse(query: URLSearchParams) {
  if (!query.has('ident') || query.has('name')) {
    const at = markup('time');
    const version = { version: markup('deployed version'), at, by: markup('by'), message: markup('message') };
    const failure = { code: markup('recorded code'), message: markup('recorded message') };
    const run = { id: 'a', version: markup('recorded version'), at: markup('time of a run'), took: 1 };
    return {
      suspended: true,
      live: markup('live version'),
      pinned: { at: markup('time of a pin'), by: markup('pinned by') },
      versions: [{ ...version, live: true }, version],
      more: true,
      runs: [{ ...run, failure, logs: [markup('recorded log')] }],
    };
  }
  const live = { live: markup('live of a card'), latest: markup('latest of a card') };
  return { suspended: true, plugins: [{ name: PLUGIN, ...live }] };
}

/** What the vendor's back end and the plugin service answer when every name and text of theirs is markup. */
function answerTo(request: HTTPRequest, service: string, say: Say) {
  const { pathname, search, searchParams } = new URL(request.url());
  const is = (method: string, path: string) =>
    request.method() === method && (pathname + search).startsWith(path);
  if (is('GET', '/session')) {
    return json({
      user: { name: markup('user'), role: markup('role'), mayDeploy: true, isStaff: say.staff },
      former: [],
      tenants: [
        {
          ident: TENANT,
          name: markup('tenant'),
          plugins: [{ name: PLUGIN, runs: markup('runs'), sample: markup('sample') }],
        },
      ],
      stranger: { ident: 'com.example.customer-8', name: markup('stranger'), fn: markup('strange plugin') },
      service: { editorUrl: `${service}editor/`, builder: service.slice(0, -1) },
    });
  }
  if (is('POST', '/plugins/runs')) {
    const run = { version: markup('version run'), output: markup('output'), took: 1 };
    const failure = {
      code: markup('failure code'),
      message: markup('failure message'),
      logs: [markup('failure log')],
    };
    return json({ runs: [run, { ...run, output: undefined, failure }], more: false });
  }
  if (is('GET', '/customers')) {
    const customer = { ident: markup('ident'), name: markup('customer'), plugins: 1 };
    return json({ customers: [{ ...customer, state: 'active' }] });
  }
  if (is('GET', '/plugins?') && say.refusal) {
    return { ...json({ error: { code: markup('code'), message: markup('refusal') } }), status: 403 };
  }
  if (is('GET', '/plugins?') || is('PUT', '/plugins/live')) return json(pluginsResponse(searchParams));
  if (request.method() === 'POST' && pathname === '/plugins')
    return { ...json({ error: { code: markup('code'), message: markup('name problem') } }), status: 400 };
  if (is('GET', '/api/v1/features')) {
    const languages = ['javascript', markup('identifier')].map((identifier) => ({
      identifier,
      pretty: markup('pretty'),
      short: markup('short'),
    }));
    return json({ features: ['testing', 'stream_builds', markup('feature')], languages });
  }
  if (is('GET', '/api/v1/draft/')) {
    const tests = [
      { name: markup('test'), description: markup('description'), payload: markup('payload') },
      { name: 'two', payload: 'throws' },
    ];
    return json({ contents: markup('source'), lang: 'javascript', tests });
  }
  if (is('GET', '/api/v1/progress/')) return json({ built: false });
  if (is('POST', '/api/v1/check/') || is('POST', '/api/v1/build/')) {
    const diagnostics = [
      { line: 1, column: 1, message: markup('diagnostic'), severity: markup('severity') },
      { line: 1, column: 2, message: markup('second diagnostic'), severity: 'error' },
    ];
    return json({ succeeded: true, outputLog: markup('build log'), diagnostics });
  }
  if (is('POST', '/api/v1/test/')) {
    if (request.postData() !== 'throws') return json({ result: markup('result'), logs: [markup('log')] });
    return json({ error: { code: markup('error code'), message: markup('error') }, logs: markup('one log') });
  }
  if (request.method() === 'POST' && pathname.endsWith('/promote'))
    return json({ version: markup('version') });
  return undefined;
}

/** What else the vendor's back end is to say from now on. */
export interface Say {
  /** That it refuses what it is asked of plugins. */
  refusal: boolean;
  /** What it says to the vendor's own staff. */
  staff: boolean;
}

/** Has a page get those answers; all others are the real ones. */
export async function respondInMarkup(page: Page, service: string): Promise<Say> {
  const say = { refusal: false, staff: false };
  await page.setRequestInterception(true);
  page.on('request', (request) => {
    const response = request.method() === 'OPTIONS' ? undefined : answerTo(request, service, say);
    void (response ? request.respond(response) : request.continue());
  });
  return say;
}
