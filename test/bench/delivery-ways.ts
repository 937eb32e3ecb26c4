/** The ways to embed that are measured, each from the click on. They run in the page. */
import { embedDashboard } from '@superset-ui/embedded-sdk';

export interface WayOptions {
  /** Address of the editor and its builder. */
  editor: string;
  /** The token that a page would have if it knew it beforehand. */
  token: string;
}

/** Gets ready, and answers with what the click does. */
type Way = (options: WayOptions) => (() => void) | Promise<() => void>;

const target = { ident: 'com.acme.customer-7', namespace: 'default', fn: 'add-record' };

const mount = () => document.querySelector('main') as HTMLElement;

const addressOf = (editor: string, token: string) =>
  `${editor}/?${new URLSearchParams({ builder: editor, token, ...target }).toString()}`;

async function fetchToken(): Promise<string> {
  const response = await fetch('/token', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(target),
  });
  const { token } = (await response.json()) as { token: string };
  return token;
}

function element(editor: string, more: Record<string, string>): HTMLElement {
  const made = document.createElement('plugin-editor');
  const attributes = {
    'editor-url': `${editor}/`,
    builder: editor,
    ident: target.ident,
    'token-endpoint': '/token',
    ...more,
  };
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  return made;
}

/** The page in the frame greeted, and nothing is left to do for it. */
async function greeted(): Promise<void> {
  await new Promise<void>((resolve) => {
    const handleMessage = ({ data }: MessageEvent<{ type?: string } | undefined>) => {
      if (data?.type !== 'hello') return;
      removeEventListener('message', handleMessage);
      resolve();
    };
    addEventListener('message', handleMessage);
  });
}

export const WAYS = {
  /** As quick as can be: the token is known, and the frame is all there is. */
  raw:
    ({ editor, token }) =>
    () => {
      const frame = document.createElement('iframe');
      frame.src = addressOf(editor, token);
      mount().append(frame);
    },
  /** By hand, as the interface has it. */
  fetchThenSrc:
    ({ editor }) =>
    async () => {
      const frame = document.createElement('iframe');
      frame.src = addressOf(editor, await fetchToken());
      mount().append(frame);
    },
  url:
    ({ editor }) =>
    () =>
      mount().append(element(editor, { fn: target.fn })),
  message:
    ({ editor }) =>
    () =>
      mount().append(element(editor, { fn: target.fn, 'token-delivery': 'message' })),
  superset:
    ({ editor }) =>
    () =>
      void embedDashboard({
        id: target.fn,
        supersetDomain: editor,
        mountPoint: mount(),
        fetchGuestToken: fetchToken,
        dashboardUiConfig: { urlParams: { builder: editor, ...target } },
      }),
  /** The element was there before its plugin was chosen. */
  preload: async ({ editor }) => {
    const made = element(editor, { 'token-delivery': 'message', preload: '' });
    const hello = greeted();
    mount().append(made);
    await hello;
    return () => made.setAttribute('fn', target.fn);
  },
} satisfies Record<string, Way>;

export type WayName = keyof typeof WAYS;

/** The element that is there goes from one plugin to another. */
export function change(): string {
  const fn = 'delete-record';
  document.querySelector('plugin-editor')?.setAttribute('fn', fn);
  return fn;
}

export const FIRST_FN = target.fn;
