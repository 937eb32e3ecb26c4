/** A module worker that uses the client as a page would, and posts the result. */
import * as client from '../../src/client.ts';

const { BuilderClient, buildEditorUrl, parseEditorUrl } = client;

addEventListener('message', ({ data }: MessageEvent<{ baseUrl: string }>) => {
  void run(data.baseUrl).then(
    (result) => postMessage(result),
    (error) => postMessage({ failed: String(error) }),
  );
});

async function run(baseUrl: string) {
  const builder = new BuilderClient({ baseUrl, token: 'tok' });
  const pluginName = 'a/b 😀';
  const lost = await builder.getTemplate({ language: 'none' }).catch((error: Error) => error);
  const address = buildEditorUrl({
    editorUrl: 'https://e.example/',
    builder: baseUrl,
    ident: 'a.t',
    fn: pluginName,
  });
  return {
    hasDocument: 'document' in globalThis,
    exports: Object.keys(client),
    features: await builder.getFeatures(),
    draft: await builder.getDraft({ environment: 'com.acme', userID: 't', pluginName }),
    error: { name: (lost as Error).name, known: lost instanceof client.HttpError },
    parsed: parseEditorUrl(address).fn,
  };
}
