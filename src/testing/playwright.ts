import { type CommandName, createCommands, type StandInEditor, type StandInSettings } from './commands.ts';
import { standInPage } from './page.ts';
import { StandInTokens } from './tokens.ts';

// The parts of Playwright's types that are used here. They are declared, so that this package depends on no version of it.

interface PlaywrightRequest {
  url(): string;
  postData(): string | null;
}

interface PlaywrightRoute {
  request(): PlaywrightRequest;
  fulfill(response: { status?: number; contentType?: string; body?: string }): Promise<void>;
}

interface PlaywrightFrame {
  url(): string;
  evaluate<Result, Argument>(
    run: (argument: Argument) => Result,
    argument: Argument,
  ): Promise<Awaited<Result>>;
}

/** A page of Playwright. */
export interface PlaywrightPage {
  route(matches: (url: URL) => boolean, handle: (route: PlaywrightRoute) => Promise<void>): Promise<unknown>;
  frames(): PlaywrightFrame[];
}

export interface RouteOptions extends Partial<StandInSettings> {
  /** Where the page under test looks for the editor: its `editor-url`, absolute. */
  editorUrl: string;
  /** The path of its `token-endpoint`. If it is left out, the requests go to the application's own endpoint. */
  tokenEndpoint?: string;
}

/** Puts the stand-in editor, and with `tokenEndpoint` a stand-in token endpoint, into the network of a Playwright page. */
export async function routeStandIn(
  page: PlaywrightPage,
  { editorUrl, tokenEndpoint, ...settings }: RouteOptions,
): Promise<{ editor: StandInEditor; tokens: StandInTokens }> {
  const { origin, pathname } = new URL(editorUrl);
  const tokens = new StandInTokens();
  const isEditor = (url: URL) => url.origin === origin && url.pathname === pathname;
  await page.route(isEditor, (route) =>
    route.fulfill({ contentType: 'text/html', body: standInPage(settings) }),
  );
  if (tokenEndpoint !== undefined) {
    await page.route(
      ({ pathname: path }) => path === tokenEndpoint,
      (route) => {
        const request = route.request();
        const response = tokens.answer(request.postData(), new URL(request.url()).searchParams);
        return route.fulfill({ ...response, contentType: 'application/json' });
      },
    );
  }
  const run = async (name: CommandName, args: unknown[]) => {
    const frame = page.frames().find((one) => URL.canParse(one.url()) && isEditor(new URL(one.url())));
    if (!frame) throw new Error(`No frame of the page shows ${editorUrl}: wait until the editor is ready.`);
    return frame.evaluate(
      ([command, values]) => (window.standIn[command] as (...all: unknown[]) => unknown)(...values),
      [name, args] as const,
    );
  };
  return { editor: createCommands(run), tokens };
}
