import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Page } from 'puppeteer-core';
import { launchChromium, startDemo } from '../demo/harness.ts';
import { readFrame } from '../support/read-frame.ts';
import { readPlaces, watchEvents } from './page-places.ts';
import { SAY } from './recorder.ts';
import type { Recorded } from './recorder.ts';
import { Places } from './secrets.ts';
import type { Secret } from './secrets.ts';

const recorder = new URL('recorder.ts', import.meta.url);
const command = fileURLToPath(new URL('../../service/src/cli/main.ts', import.meta.url));

/** The demo with its recorder, a browser, and all that is looked through for secrets. */
export async function startWorld(says: string) {
  const scratch = mkdtempSync(join(tmpdir(), 'plugin-editor-tokens-'));
  const recordings = join(scratch, 'recorded');
  const env = { NODE_OPTIONS: `--import=${recorder.href}`, RECORD_TO: recordings, [SAY]: says };
  const [demo, browser] = await Promise.all([startDemo(env), launchChromium()]);
  const ports = { vendor: Number(new URL(demo.vendor).port), service: Number(new URL(demo.service).port) };
  const places = new Places();
  const sessions = new Set<string>();
  let commandOutput = '';

  const recorded = () =>
    readFileSync(recordings, 'utf8')
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line) as Recorded);

  return {
    demo,
    browser,
    ports,
    places,
    dataDir: demo.dataDir,
    /** Every secret that there was so far. */
    secrets: (): Secret[] => [
      ...recorded().flatMap((one) => ('secret' in one ? [{ kind: one.secret, text: one.text }] : [])),
      ...[...sessions].map((text) => ({ kind: 'session', text })),
    ],
    /** Watches a page and its frames from before their first script on. */
    watch: async (page: Page) => {
      await page.evaluateOnNewDocument(watchEvents);
      page.on('request', (request) => {
        const opensEditor = request
          .url()
          .startsWith(`${demo.service}editor/?`.replace('localhost', '127.0.0.1'));
        places.add(opensEditor ? 'address of the editor' : 'addresses', request.url());
        places.add('addresses', request.postData() ?? '');
        const { referer } = request.headers();
        if (referer) places.add('referers', referer);
      });
      page.on('console', (message) => {
        const { url = '' } = message.location();
        const text = message.text();
        const place = /violates the following Content Security Policy/.test(text)
          ? 'policy violation'
          : 'console';
        places.add(place, text, url, ...message.stackTrace().map((frame) => frame.url ?? ''));
      });
      page.on('pageerror', (error) => places.add('console', String((error as Error).stack ?? error)));
    },
    /** Looks at all that a page and its frames hold at this moment. */
    look: async (page: Page) => {
      for (const frame of page.frames()) {
        places.addAll((await readFrame(frame, readPlaces)) ?? {});
      }
      const cdp = await page.createCDPSession();
      const { entries } = await cdp.send('Page.getNavigationHistory');
      for (const { url, title, userTypedURL } of entries) {
        places.add('history', url, title);
        // Where a tab was first sent to, as the browser's own interface remembers it; no page can read that.
        places.add('address that opened a tab', userTypedURL);
      }
      await cdp.detach();
      for (const { value } of await browserCookies(page)) sessions.add(signatureOf(value));
    },
    /** Has an environment token made, as its owner does it. */
    makeOwnerToken: async () => {
      const child = spawn(
        process.execPath,
        ['--disable-warning=ExperimentalWarning', command, 'env-token', 'you@example.org'],
        { env: { ...process.env, ...env, DATA_DIR: demo.dataDir, SMTP_URL: '' } },
      );
      let errors = '';
      child.stdout.setEncoding('utf8').on('data', (text: string) => (commandOutput += text));
      child.stderr.setEncoding('utf8').on('data', (text: string) => (errors += text));
      const closed = once(child, 'close');
      while (!errors.includes('Code: ')) await once(child.stderr, 'data');
      const code = recorded().find((one) => 'secret' in one && one.secret === 'code');
      child.stdin.end(`${code && 'secret' in code ? code.text : ''}\n`);
      await closed;
      places.add("the command's standard output", commandOutput);
      places.add('printed', errors);
      if (!commandOutput) throw new Error(`No token came: ${errors}`);
    },
    /** What lies beside the browser: files, what was printed, and all that went over the wire. */
    lookAround: () => {
      for (const name of readdirSync(demo.dataDir, { recursive: true, encoding: 'utf8' })) {
        if (name.includes('.sqlite')) places.add('database', readFileSync(join(demo.dataDir, name)));
        if (name.endsWith('.eml')) places.add('outbox', readFileSync(join(demo.dataDir, name)));
      }
      places.add('printed', demo.output());
      for (const one of recorded()) if (!('secret' in one)) sortRequest(one, ports, places);
    },
    close: async () => {
      await browser.close();
      await demo.stop();
      rmSync(scratch, { recursive: true, force: true });
    },
  };
}

export type World = Awaited<ReturnType<typeof startWorld>>;

type Request = Exclude<Recorded, { secret: string }>;

/** Puts each part of a request and its response in the place that it belongs to. */
function sortRequest(request: Request, ports: World['ports'], places: Places): void {
  const { port, address, headers, responseHeaders: answerHeaders, body, method } = request;
  const server = port === ports.vendor ? 'vendor' : 'service';
  const { authorization = '', cookie = '', referer = '', ...others } = headers;
  const called = (path: string) => address.startsWith(path);
  const opensEditor = server === 'service' && called('/editor/?');
  places.add(opensEditor ? 'address of the editor' : 'addresses', address);
  places.add('referers', referer);
  places.add('other headers', JSON.stringify(others));
  places.add(`cookies to the ${server}`, cookie);
  // The vendor's back end asks the same addresses as the editor; by what sends it one knows which it is.
  const fromBrowser = (headers['user-agent'] ?? '').startsWith('Mozilla');
  places.add(fromBrowser ? 'authorization at the builder' : 'authorization by the vendor', authorization);
  const signsIn = server === 'vendor' && method === 'POST' && called('/session');
  places.add(signsIn ? 'set-cookie' : 'answers', answerHeaders);
  places.add(
    server === 'vendor' && called('/plugins/editor-token')
      ? 'answer of the token endpoint'
      : server === 'service' && called('/auth/')
        ? 'answer of the access interface'
        : 'answers',
    body,
  );
}

const browserCookies = (page: Page) => page.browserContext().cookies();

/** A signed cookie is a value that anyone may know and the signature, as it stands in the header. */
const signatureOf = (cookie: string) => decodeURIComponent(cookie).split('.').at(-1) ?? '';
