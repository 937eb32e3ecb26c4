import { mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import {
  type Browser,
  type BrowserContext,
  type Frame,
  type Keyboard,
  type Page,
  Puppeteer,
} from 'puppeteer-core';
import { buildEditor } from '../support/editor-files.ts';
import { memoryFolder } from '../support/memory-folder.ts';
import { type ListeningServer, listen } from '../../service/src/http/listen.ts';
import { type ServiceOptions, createService } from '../../service/src/http/create-service.ts';
import { provisionEnvironmentToken } from '../../service/src/accounts/environment-token.ts';
import { openStorage } from '../../service/src/storage/storage.ts';
import { buildEditorUrl, type PluginSource } from 'plugin-editor/client.js';
import { pressKeys } from '../support/press-keys.ts';
import { sharedToolProcesses } from '../service/tool-processes.ts';

export { launchChromium as launchBrowser } from '../support/chromium.ts';

export interface Target {
  fn?: string;
  namespace?: string;
  template?: string;
  builder?: string;
}

/** One request that reached the service. */
export interface Seen {
  method: string;
  path: string;
  referrer: string | null;
}

const IDENT = 'com.acme.t1';
const POLICY = 'content-security-policy';
const EMPTY = '/empty';

// As `::-p-aria`, for which the browser builds the page's whole accessibility tree each time.
// oxlint-disable-next-line import/namespace -- a class, which the rule takes for the namespace of the same name in that package
Puppeteer.registerCustomQueryHandler('button', {
  queryAll: (node, name) => {
    const whole = node === document ? document.querySelector('dialog:modal') : undefined;
    const within = whole ?? (node as Element);
    return [...within.querySelectorAll<HTMLElement>('button:not([role])')].filter(
      (one) => (one.ariaLabel ?? one.innerText.trim()) === name && one.checkVisibility(),
    );
  },
});

/** A selector of the buttons with this name that can be pressed. */
export const buttonNamed = (name: string): string => `::-p-button(${name})`;

/** The real service on a real port and file, with the editor as it is built; a test turns its clock and stops it. */
export async function startEditorService({
  editor = true,
  ...options
}: Partial<ServiceOptions> & { editor?: boolean } = {}) {
  const directory = mkdtempSync(join(memoryFolder, 'plugin-editor-'));
  const storage = await openStorage({ engine: 'sqlite', file: join(directory, 'service.sqlite') });
  const clock = { ahead: 0 };
  const hosts: string[] = [];
  const seen: Seen[] = [];
  const now = () => Date.now() + clock.ahead;
  const service = createService({
    storage,
    editorAssets: editor ? await buildEditor() : new Map(),
    hosts,
    now,
    toolProcesses: sharedToolProcesses(),
    ...options,
  });
  const environmentToken = await provisionEnvironmentToken(storage, 'com.acme');
  /** Answers in the service's place where a test says so. */
  const script: {
    respond?: ((request: Request) => Response | undefined) | undefined;
    /** Delays a request until this resolves. */
    hold?: ((request: Request) => Promise<void> | undefined) | undefined;
    /** Changes the policy of the editor's page. */
    policy?: ((policy: string) => string) | undefined;
  } = {};

  const handler = {
    refuse: service.refuse,
    fetch: async (request: Request, env: object) => {
      const { pathname, search } = new URL(request.url);
      if (pathname === EMPTY) return new Response('', { headers: { 'content-type': 'text/html' } });
      seen.push({
        method: request.method,
        path: pathname + search,
        referrer: request.headers.get('referer'),
      });
      await script.hold?.(request);
      const response = script.respond?.(request) ?? (await service.fetch(request, env));
      const policy = response.headers.get(POLICY);
      if (policy && script.policy) response.headers.set(POLICY, script.policy(policy));
      return response;
    },
  };
  let listening: ListeningServer | undefined = await listen(handler, 0, 'SERVICE_PORT');
  const { port } = listening;
  const origin = `http://127.0.0.1:${port}`;
  hosts.push(`127.0.0.1:${port}`, `localhost:${port}`);

  const call = (path: string, token: string, init: RequestInit = {}, type = 'application/json') =>
    service.fetch(
      new Request(origin + path, {
        ...init,
        headers: {
          host: `127.0.0.1:${port}`,
          authorization: `Bearer ${token}`,
          'content-type': type,
        },
      }),
    );
  const token = async ({ fn = 'add-record', namespace = 'default' }: Target = {}, permissions?: string) => {
    const query = permissions ? `?permissions=${permissions}&actor=ada` : '';
    const response = await call(`/auth/v2/access/${IDENT}/${namespace}/${fn}${query}`, environmentToken);
    return ((await response.json()) as { token: string }).token;
  };
  const draftPath = ({ fn = 'add-record', namespace = 'default' }: Target = {}) =>
    `/api/v1/draft/${IDENT}/${namespace}/${fn}`;

  /** Builds this text as the plugin's draft, which keeps its language and tests. */
  const build = async (contents: string, target: Target = {}) => {
    const [path, ownToken] = [draftPath(target), await token(target)];
    const draft = (await (await call(path, ownToken)).json()) as PluginSource;
    const init = { method: 'POST', body: contents };
    const built = await call(path.replace('/draft/', `/build/${draft.lang}/`), ownToken, init, 'text/plain');
    const { succeeded } = (await built.json()) as { succeeded: boolean };
    if (!succeeded) throw new Error(`Building answered ${built.status}.`);
  };

  return {
    origin,
    /** The address of an empty page of this origin. */
    empty: origin + EMPTY,
    clock,
    seen,
    script,
    token,
    draftPath,
    /** The draft as the service has it; `undefined` when there is none. */
    draft: async (target: Target = {}) => {
      const response = await call(draftPath(target), await token(target));
      return response.status === 404 ? undefined : ((await response.json()) as PluginSource);
    },
    /** Runs what is live, as the vendor's back end does; resolves with the status. */
    run: async (input: string, { fn = 'add-record', namespace = 'default' }: Target = {}) =>
      (
        await call(`/exec/name/${IDENT}/${namespace}/${fn}`, environmentToken, {
          method: 'POST',
          body: input,
        })
      ).status,
    /** Saves past the editor, as another page would. */
    save: async (source: PluginSource, target: Target = {}) => {
      const init = { method: 'POST', body: JSON.stringify(source) };
      const response = await call(draftPath(target), await token(target), init);
      if (!response.ok) throw new Error(`Saving answered ${response.status}: ${await response.text()}`);
    },
    /** Deletes the plugin, and with it the tokens for it alone. */
    remove: async (target: Target = {}) => {
      const path = draftPath(target).replace('/draft/', '/plugin/');
      const { status } = await call(path, environmentToken, { method: 'DELETE' });
      if (status !== 204) throw new Error(`Deleting answered ${status}.`);
    },
    build,
    /** Builds this text as the plugin's draft, and deploys it. */
    deploy: async (contents: string, target: Target = {}) => {
      await build(contents, target);
      const deployed = await call(`${draftPath(target)}/promote`, await token(target), { method: 'POST' });
      if (!deployed.ok) throw new Error(`Deploying answered ${deployed.status}.`);
    },
    /** Sets the types of the input and output of a namespace’s plugins. */
    setNamespace: async (namespace: string, details: object) => {
      const init = { method: 'PUT', body: JSON.stringify(details) };
      const response = await call(
        `/api/v1/environment/com.acme/namespaces/${namespace}`,
        environmentToken,
        init,
      );
      if (!response.ok)
        throw new Error(`The namespace answered ${response.status}: ${await response.text()}`);
    },
    /** Removes them. */
    deleteNamespace: async (namespace: string) => {
      const path = `/api/v1/environment/com.acme/namespaces/${namespace}`;
      const { status } = await call(path, environmentToken, { method: 'DELETE' });
      if (status !== 204) throw new Error(`Deleting the namespace answered ${status}.`);
    },
    publish: async (library: string, details: object) => {
      const init = { method: 'PUT', body: JSON.stringify(details) };
      const path = `/api/v1/environment/com.acme/libraries/${library}/1.0.0`;
      const response = await call(path, environmentToken, init);
      if (!response.ok) throw new Error(`The library answered ${response.status}: ${await response.text()}`);
    },
    url: async (target: Target = {}, givenToken?: string) => {
      const { fn = 'add-record', namespace = 'default', template, builder = origin } = target;
      const place = { editorUrl: `${origin}/editor/`, builder, ident: IDENT, fn, namespace, template };
      return buildEditorUrl({ ...place, token: givenToken ?? (await token(target)) });
    },
    /** The port no longer answers. */
    stop: async () => {
      await listening?.close();
      listening = undefined;
    },
    /** At the same address again. */
    restart: async () => {
      listening ??= await listen(handler, port, 'SERVICE_PORT');
    },
    close: async () => {
      await listening?.close();
      await service.close();
      await storage.close();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

export type EditorService = Awaited<ReturnType<typeof startEditorService>>;

/** What of the line of tabs cannot be seen without scrolling it. */
export const tabsOutOfView = (page: Page | Frame) =>
  page.$eval('.dock-tabs', (line) => {
    const { left, right } = line.getBoundingClientRect();
    return [...line.children]
      .filter((tab) => {
        const box = tab.getBoundingClientRect();
        return box.left < left - 1 || box.right > right + 1 || tab.scrollWidth > tab.clientWidth;
      })
      .map((tab) => tab.textContent?.trim());
  });

/** The tabs with a number, or a tick, that covers the end of their name. */
export const coveredTabs = (page: Page | Frame) =>
  page.$$eval('.dock-tab .count:not([hidden])', (counts) => {
    const canvas = document.createElement('canvas').getContext('2d')!;
    return counts.flatMap((count) => {
      const tab = count.parentElement!;
      const name = document.createRange();
      name.setStart(tab, 0);
      name.setEndBefore(count);
      const label = name.toString().trim();
      canvas.font = getComputedStyle(tab).font;
      const { fontBoundingBoxAscent, actualBoundingBoxAscent } = canvas.measureText(label.at(-1) ?? '');
      const text = name.getBoundingClientRect();
      const box = count.getBoundingClientRect();
      const isBeside = box.left >= text.right || box.right <= text.left;
      const isAbove = box.bottom <= text.top + fontBoundingBoxAscent - actualBoundingBoxAscent + 1;
      return isBeside || isAbove ? [] : [label];
    });
  });

/** A new page of the editor. */
export const openPage = async (context: BrowserContext | Browser, url: string): Promise<EditorPage> =>
  visit(await context.newPage(), url);

/** Opens an address of the editor in a page. */
export async function visit(page: Page, url: string) {
  const problems: string[] = [];
  page.on('pageerror', (error) => problems.push(String(error)));
  page.on('console', (message) => {
    // A request that fails is a response that a test asked for; a policy that was broken is not.
    const text = message.text();
    if (message.type() === 'error' && !text.startsWith('Failed to load resource')) problems.push(text);
  });
  await page.goto(url);
  return {
    page,
    /** Errors of the page, and breaches of its policy. */
    problems,
    ...editorIn(page.mainFrame(), page.keyboard),
  };
}

/** Opens the help on keys, which also names the plugin. */
export const pressForHelp = (page: Page): Promise<void> => pressKeys(page, 'Shift', 'F1');

/** The editor in a page or a frame, and what a test does with it. */
export function editorIn(frame: Frame, keyboard: Keyboard) {
  const until = (has: string) =>
    frame.waitForFunction((text) => document.body.innerText.includes(text), { polling: 50 }, has);
  const pressButton = (selector: string) =>
    frame
      .locator(selector)
      .filter((button) => button.ariaDisabled !== 'true')
      .click();
  /** Deploys from the sheet, which is open or opens, once it has run the tests. */
  const confirmDeploy = async () => {
    await frame.waitForSelector('dialog.deploy:not([data-state=testing])');
    await pressButton('dialog.deploy [type=submit]');
  };
  return {
    /** Waits until the page shows a text. */
    until,
    /** Waits until the status line starts with a text. */
    untilStatus: (start: string) =>
      frame.waitForFunction(
        (text) => document.querySelector('.status')?.textContent?.startsWith(text),
        { polling: 50 },
        start,
      ),
    /** Waits until the text can be edited. */
    untilOpen: () => frame.waitForSelector('.cm-content'),
    /** Writes at the end of the text, each line at once: for each key the page works as much as for a whole line. */
    type: async (text: string) => {
      await frame.focus('.cm-content');
      await pressKeys({ keyboard }, 'Control', 'End');
      for (const [i, line] of text.split('\n').entries()) {
        if (i > 0) await keyboard.press('Enter');
        if (line) await keyboard.sendCharacter(line);
      }
    },
    text: () => frame.$$eval('.text .cm-line', (lines) => lines.map((line) => line.textContent).join('\n')),
    /** Presses a button once it does something. One that does nothing keeps the focus, so that it is not `disabled`. */
    press: (name: string) => pressButton(buttonNamed(name)),
    /** Saves now, by its key. */
    save: async () => {
      await frame.focus('.cm-content');
      await pressKeys({ keyboard }, 'Control', 's');
    },
    /** Builds, by its key. */
    build: async () => {
      await frame.focus('.cm-content');
      await pressKeys({ keyboard }, 'Control', 'b');
    },
    /** Deploys, whatever the tests of the plugin say. */
    deploy: async () => {
      await pressButton(buttonNamed('Deploy'));
      await confirmDeploy();
    },
    confirmDeploy,
    /** All that this browser keeps of plugins. */
    kept: () =>
      frame.evaluate(() =>
        Object.entries<string>(localStorage)
          .filter(([key]) => key.startsWith('plugin-editor:'))
          .map(([key, value]) => ({ key, value })),
      ),
  };
}

export type EditorPage = Awaited<ReturnType<typeof visit>>;
