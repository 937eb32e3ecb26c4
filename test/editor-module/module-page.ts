import { CHANNEL } from '../element/protocol-setup.ts';
import { type Rule, type ScriptedServer, scriptedServer } from '../support/scripted-server.ts';

/** The message that opens a plugin. */
export const OPEN = {
  ...CHANNEL,
  type: 'open',
  session: 's1',
  builder: 'b',
  ident: 'a.b',
  namespace: 'n',
  fn: 'f',
  token: 't',
};

/** Rules that serve the module and its imports on the origin of the editor. */
async function moduleRules(): Promise<Rule[]> {
  const files = ['editor.ts', 'core/messages.ts', 'core/origins.ts', 'core/untrusted.ts'];
  return Promise.all(
    files.map(async (file) => ({
      path: `/src/${file}`,
      headers: { 'content-type': 'text/javascript' },
      body: await (await fetch(`/src/${file}`)).text(),
    })),
  );
}

/**
 * An editor's page that uses the module as an editor would, and reports to the page around it, beside the protocol, which
 * callback was called with what. It evaluates code for the test, which can use `launcher` and `plugin` (of the first `open`).
 */
const page = (options: string) => `<!doctype html><meta charset="utf-8"><title>Editor</title>
  <script type="module">
    import { connectLauncher } from './src/editor.ts';
    const report = (call) => parent.postMessage({ received: call, from: '', page: location.href }, '*');
    const auto = !location.search.includes('mute');
    let plugin;
    addEventListener('error', () => report({ type: 'uncaught' }));
    const launcher = connectLauncher({
      onOpen(open, channel) {
        plugin ??= channel;
        report({ type: 'onOpen', open });
        if (auto) channel.ready();
      },
      onToken: (token) => report({ type: 'onToken', token }),
      onClose: () => report({ type: 'onClose' }),
      ${options}
    });
    addEventListener('message', ({ data }) => data?.evaluate && eval(data.evaluate));
    report({ type: 'running', connected: launcher !== undefined });
  </script>`;

/** A server with that page at /editor, and tokens. The given rules take precedence. */
export async function moduleServer(options = '', ...rules: Rule[]): Promise<ScriptedServer> {
  return scriptedServer(
    ...rules,
    ...(await moduleRules()),
    { path: '/editor*', html: page(options) },
    { path: '/token', times: 1, json: { token: 'token-1', expires_in: 900 } },
    { path: '/token', json: { token: 'token-2' } },
    { path: '/ping', body: '' },
  );
}
