import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Page } from 'puppeteer-core';
import { launchChromium, startDemo } from '../demo/harness.ts';
import { readFrame } from '../support/read-frame.ts';
import { type Recorded, SAY } from './recorder.ts';

/** A secret as it was made, and what it is. */
export interface Secret {
  kind: string;
  text: string;
}

/** What gives a secret away: itself, half of it, and it in other codings. */
function formsOf({ text }: Secret): string[] {
  const half = Math.floor(text.length / 2);
  const halves = [text.slice(0, half), text.slice(-half)];
  const bytes = Buffer.from(text, 'base64url');
  const standard = bytes.toString('base64');
  return [
    ...halves,
    ...halves.map(encodeURIComponent),
    standard,
    encodeURIComponent(standard),
    bytes.toString('hex'),
    bytes.toString('latin1'),
    // Encoded once more, without the first and last characters, which depend on what stands beside it.
    ...[0, 1, 2].map((skip) => btoa(text.slice(skip)).slice(0, -4)),
  ];
}

/** Six digits come by chance: they count where they stand alone. */
function holds(content: string, secret: Secret): boolean {
  if (secret.kind === 'code') return new RegExp(`(?<![\\w.-])${secret.text}(?![\\w.-])`).test(content);
  return formsOf(secret).some((form) => content.includes(form));
}

/** Where secrets are looked for: what each place held, at any time. Bytes are text in Latin-1. */
class Places {
  readonly #contents = new Map<string, Set<string>>();

  add(place: string, ...contents: (string | Uint8Array)[]): void {
    const all = this.#contents.get(place) ?? new Set();
    this.#contents.set(place, all);
    for (const one of contents) {
      const text = typeof one === 'string' ? one : Buffer.from(one).toString('latin1');
      if (text) all.add(text);
    }
  }

  addAll(contents: Record<string, string>): void {
    for (const [place, content] of Object.entries(contents)) this.add(place, content);
  }

  /** The places that were looked at and held anything at all. */
  get seen(): string[] {
    return [...this.#contents]
      .filter(([, contents]) => contents.size)
      .map(([place]) => place)
      .toSorted();
  }

  /** Where a secret is. */
  of(secret: Secret): string[] {
    return [...this.#contents]
      .filter(([, contents]) => [...contents].some((content) => holds(content, secret)))
      .map(([place]) => place)
      .toSorted();
  }
}

/* What runs in the page itself: each function is sent there as text, so it uses nothing from outside of it. */

export interface WatchedWindow {
  /** What every event said, in words. */
  eventsSaid: string[];
  /** What the browser itself said of its policy: the address of a frame that it blocked, if that is the page's own. */
  violationsSaid: string[];
}

/** Before any script of a page: writes down all that is dispatched, and what the browser itself fires of interest. */
function watchEvents(): void {
  const eventsSaid: string[] = [];
  const violationsSaid: string[] = [];
  Object.assign(window, { eventsSaid, violationsSaid });

  /** All text of a value: fields, those of its classes, messages, stacks and causes. */
  const inWords = (value: unknown, seen = new Set<unknown>()): string => {
    if (typeof value !== 'object' || value === null) return String(value);
    if (seen.has(value) || value instanceof Node || value === window) return '';
    seen.add(value);
    const parts: string[] = [];
    for (
      let level = value;
      level && level !== Object.prototype;
      level = Object.getPrototypeOf(level) as object
    ) {
      for (const key of Reflect.ownKeys(level)) {
        if (key === 'constructor') continue;
        try {
          const field: unknown = Reflect.get(level, key, value);
          if (typeof field !== 'function') parts.push(`${String(key)}: ${inWords(field, seen)}`);
        } catch {
          // A getter of another frame's window, or of a prototype itself.
        }
      }
    }
    if (value instanceof Error) parts.push(value.message, value.stack ?? '', inWords(value.cause, seen));
    return parts.join('\n');
  };
  const note = (event: Event) =>
    void (event.type === 'securitypolicyviolation' ? violationsSaid : eventsSaid).push(inWords(event));

  // eslint-disable-next-line typescript/unbound-method -- called with its own `this`
  const { dispatchEvent } = EventTarget.prototype;
  EventTarget.prototype.dispatchEvent = function (event) {
    note(event);
    return dispatchEvent.call(this, event);
  };
  const isTop = window === window.top;
  const native = [
    'error',
    'unhandledrejection',
    'securitypolicyviolation',
    'hashchange',
    'popstate',
    'storage',
  ];
  // In the editor's frame the launcher's messages bring the token: that is what they are for.
  for (const type of [...native, ...(isTop ? ['message'] : [])])
    addEventListener(type, note, { capture: true });
}

/** All that a frame holds now, by place. */
async function readPlaces(): Promise<Record<string, string>> {
  const dom: string[] = [];
  const frameAddresses: string[] = [];
  const read = (node: Node): void => {
    if (node instanceof Element) {
      const isFrame = node.matches('iframe[part=frame]');
      for (const { name, value } of node.attributes) {
        if (isFrame && name === 'src') frameAddresses.push(value);
        else dom.push(`${name}=${value}`);
      }
      if ('value' in node) dom.push(String(node.value));
      if (node.shadowRoot) read(node.shadowRoot);
    } else if (node.nodeValue) {
      dom.push(node.nodeValue);
    }
    node.childNodes.forEach(read);
  };
  read(document);

  const databases: unknown[] = [];
  for (const { name = '' } of await indexedDB.databases()) {
    const database = await new Promise<IDBDatabase>((resolve, reject) => {
      const opening = indexedDB.open(name);
      opening.addEventListener('success', () => resolve(opening.result));
      opening.addEventListener('error', () => reject(opening.error as DOMException));
    });
    for (const store of database.objectStoreNames) {
      const all = database.transaction(store).objectStore(store).getAll();
      await new Promise((resolve) => all.addEventListener('success', resolve));
      databases.push(name, store, all.result);
    }
    database.close();
  }
  const kept: string[] = [];
  for (const name of await caches.keys()) {
    const cache = await caches.open(name);
    for (const { url } of await cache.keys())
      kept.push(name, url, (await (await cache.match(url))?.text()) ?? '');
  }
  const { navigation } = window as unknown as { navigation: { entries: () => { url: string }[] } };
  const editor = document.querySelector('plugin-editor');
  // A tab that the page opened was not watched.
  const watched = window as unknown as Partial<WatchedWindow>;
  return {
    dom: dom.join('\n'),
    'frame address': frameAddresses.join('\n'),
    events: (watched.eventsSaid ?? []).join('\n'),
    'policy violation': (watched.violationsSaid ?? []).join('\n'),
    error: editor?.error
      ? `${editor.error.message} ${String((editor.error.cause as Error | undefined)?.message)}`
      : '',
    storage: JSON.stringify([localStorage, sessionStorage, document.cookie, window.name]),
    databases: JSON.stringify([databases, kept]),
    history: JSON.stringify([
      history.state,
      document.URL,
      document.baseURI,
      navigation.entries().map(({ url }) => url),
    ]),
    referrer: `referrer: ${document.referrer}`,
    timing: performance
      .getEntries()
      .map(({ name }) => name)
      .join('\n'),
  };
}

const recorder = new URL('recorder.ts', import.meta.url);
const command = fileURLToPath(new URL('../../service/src/cli/main.ts', import.meta.url));

/** The demo with its recorder, a browser, and all that is looked through for secrets. */
export async function startWorld(says: string) {
  const scratch = mkdtempSync(join(tmpdir(), 'plugin-editor-tokens-'));
  const recordings = join(scratch, 'recorded');
  const options = `${process.env['NODE_OPTIONS'] ?? ''} --import=${recorder.href}`;
  const env = { NODE_OPTIONS: options, RECORD_TO: recordings, [SAY]: says };
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
    /** Makes an environment token as its owner does. */
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
