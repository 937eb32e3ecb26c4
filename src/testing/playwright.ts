import { commandsBy, type StandInEditor, type StandInSettings } from './commands.ts';
import { standInPage } from './page.ts';
import { StandInTokens } from './tokens.ts';

// The part of Playwright's types that is used here, so that this package depends on none of its versions.

interface PlaywrightRequest {
  url(): string;
  postData(): string | null;
}

interface PlaywrightRoute {
  request(): PlaywrightRequest;
  fulfill(answer: { status?: number; contentType?: string; body?: string }): Promise<void>;
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
  /** The path of its `token-endpoint`; left out, the application's own endpoint is asked. */
  tokenEndpoint?: string;
}

/** Plays the editor, and where it is wanted the token endpoint, for a page of Playwright. */
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
        const answer = tokens.answer(request.postData(), new URL(request.url()).searchParams);
        return route.fulfill({ ...answer, contentType: 'application/json' });
      },
    );
  }
  const run = async (name: string, args: unknown[]) => {
    const frame = page.frames().find((one) => URL.canParse(one.url()) && isEditor(new URL(one.url())));
    if (!frame) throw new Error(`No frame of the page shows ${editorUrl}: wait until the editor is ready.`);
    return frame.evaluate(
      ([command, values]) =>
        (window.standIn as unknown as Record<string, (...all: unknown[]) => unknown>)[command]!(...values),
      [name, args] as const,
    );
  };
  return { editor: commandsBy(run), tokens };
}
