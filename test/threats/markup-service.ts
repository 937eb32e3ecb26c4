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

/** What the vendor's back end and the plugin service answer when every name and text of theirs is markup. */
function answerTo(request: HTTPRequest, service: string) {
  const { pathname } = new URL(request.url());
  const is = (method: string, path: string) => request.method() === method && pathname.startsWith(path);
  if (is('GET', '/session')) {
    return json({
      user: { name: markup('user'), role: markup('role') },
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
    return json({
      runs: [run, { ...run, output: undefined, problem: markup('problem of a run') }],
      older: 0,
    });
  }
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

/** Has a page get those answers; all others are the real ones. */
export async function answerInMarkup(page: Page, service: string): Promise<void> {
  await page.setRequestInterception(true);
  page.on('request', (request) => {
    const answer = request.method() === 'OPTIONS' ? undefined : answerTo(request, service);
    void (answer ? request.respond(answer) : request.continue());
  });
}
