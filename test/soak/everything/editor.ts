import { createServer } from 'node:http';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Browser, Frame, Page } from 'puppeteer-core';
import { AccessClient, createTokenEndpoint, toNodeHandler } from '../../../src/server.ts';
import { bundle } from '../../bench/bundle.ts';
import { openBrowser } from '../../bench/browser.ts';
import { editorIn } from '../../editor/harness.ts';
import { pressKeys } from '../../support/press-keys.ts';
import { eventually } from '../../support/until.ts';
import { program } from '../programs.ts';
import type { Tally } from '../tally.ts';
import { environment } from './world.ts';
import type { PluginPlace, World } from './world.ts';

const author: PluginPlace = { identifier: `${environment}.editor`, pluginName: 'edited' };

const pageHtml = (service: string) => `<!doctype html><title>App</title><link rel="icon" href="data:,">
<script type="module" src="/plugin-editor.js"></script>
<plugin-editor style="block-size: 700px" editor-url="${service}/editor/" builder="${service}" ident="${author.identifier}"
  fn="${author.pluginName}" template="javascript" token-endpoint="/token" token-delivery="message"></plugin-editor>`;

/** A vendor's page with the editor, in Chromium, and its author, who never leaves it. */
export class EditorPage implements AsyncDisposable {
  readonly #world: World;
  readonly #vendor: Server;
  readonly #browser: Browser;
  readonly #page: Page;
  readonly #frame: Frame;

  private constructor(world: World, vendor: Server, browser: Browser, page: Page, frame: Frame) {
    this.#world = world;
    this.#vendor = vendor;
    this.#browser = browser;
    this.#page = page;
    this.#frame = frame;
  }

  static async open(world: World, tally: Tally): Promise<EditorPage> {
    const { node, environmentToken } = world.service;
    const answerToken = toNodeHandler(
      createTokenEndpoint({
        access: new AccessClient({ builderUrl: node.origin, environmentToken }),
        authorize: () => author.identifier,
      }),
    );
    const launcher = await bundle('src/plugin-editor.ts');
    const vendor = createServer((request, response) => {
      if (request.url === '/token') {
        tally.count('tokens of the editor');
        answerToken(request, response);
      } else if (request.url === '/plugin-editor.js')
        response.setHeader('content-type', 'text/javascript').end(launcher);
      else response.setHeader('content-type', 'text/html').end(pageHtml(node.origin));
    });
    await new Promise<void>((resolve) => vendor.listen(0, '127.0.0.1', resolve));
    const browser = await openBrowser();
    const page = await browser.newPage();
    await page.setViewport({ width: 1280, height: 800 });
    page.on('pageerror', (error) => tally.fault(`The page: ${String(error)}`));
    await page.goto(`http://127.0.0.1:${(vendor.address() as AddressInfo).port}/`);
    const frame = await page.waitForFrame((one) => one.url().startsWith(node.origin));
    await frame.waitForSelector('.cm-content');
    return new EditorPage(world, vendor, browser, page, frame);
  }

  /** Writes another text with the editor's help, builds it, and deploys it if `deploys`; until each is so in the service. */
  async write(mark: string, deploys: boolean): Promise<void> {
    const { keyboard } = this.#page;
    const editor = editorIn(this.#frame, keyboard);
    await editor.type('\nconst help = JSON.');
    await this.#frame.waitForSelector('.cm-tooltip-autocomplete');
    await keyboard.press('Escape');
    const { contents, expectedOutput } = program('javascript', mark, 500);
    await pressKeys(this.#page, 'Control', 'a');
    await keyboard.sendCharacter(contents);
    const builder = await this.#world.builder(author);
    const location = { environment, userID: 'editor', pluginName: author.pluginName };
    const comesTo = (what: string, wanted: string, read: () => Promise<string | undefined>) =>
      eventually(
        () => read().catch((error: unknown) => String(error)),
        (found) => found === wanted,
        what,
      );
    await comesTo('the draft', contents, async () => (await builder.getDraft(location)).contents);
    await editor.build();
    await comesTo('the build', expectedOutput('x'), async () => (await builder.test(location, 'x')).result);
    if (!deploys) return;
    await editor.deploy();
    await comesTo('the version', expectedOutput('x'), () => this.#world.executions.run(author, 'x'));
  }

  /** What the page and the editor in it use, in MB, garbage left out. */
  async memoryInUse(): Promise<number> {
    const session = await this.#page.createCDPSession();
    await session.send('HeapProfiler.collectGarbage');
    const { usedSize } = await session.send('Runtime.getHeapUsage');
    await session.detach();
    return usedSize / 2 ** 20;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#browser.close();
    this.#vendor.closeAllConnections();
    this.#vendor.close();
  }
}
