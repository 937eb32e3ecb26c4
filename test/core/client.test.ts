import { expect } from '@open-wc/testing';

import { BuilderClient } from '../../src/client.ts';
import { scriptedServer } from '../support/scripted-server.ts';

describe('client.js', () => {
  it('works in a module worker, without a document', async () => {
    const features = { features: ['testing'], languages: [] };
    const source = { contents: 'x', lang: 'ts' };
    const server = await scriptedServer(
      { path: '/api/v1/features', json: features },
      { path: '/api/v1/draft/*', json: source },
    );
    const worker = new Worker(new URL('./client-worker.ts', import.meta.url), { type: 'module' });
    try {
      const result = await new Promise<Record<string, unknown>>((resolve, reject) => {
        worker.addEventListener('message', ({ data }) => resolve(data as Record<string, unknown>));
        worker.addEventListener('error', ({ message }) => reject(new Error(`The worker failed: ${message}`)));
        // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a worker has none
        worker.postMessage({ baseUrl: server.url() });
      });
      expect(result).to.deep.include({
        hasDocument: false,
        features,
        draft: source,
        error: { name: 'HttpError', known: true },
        parsed: 'a/b 😀',
      });
      expect(result['exports']).to.include.members([
        'BuilderClient',
        'buildEditorUrl',
        'parseEditorUrl',
        'joinIdent',
        'parseIdent',
        'pluginSourceSchema',
        'featuresSchema',
        'editorTokenSchema',
        'HttpError',
        'TimeoutError',
        'NetworkError',
        'SchemaError',
      ]);
    } finally {
      worker.terminate();
    }
    const [draft] = await server.requests({ path: '/api/v1/draft/*' });
    expect(draft?.path).to.equal('/api/v1/draft/com.acme.t/default/a%2Fb%20%F0%9F%98%80');
    expect(draft?.headers).to.include({ authorization: 'Bearer tok' });
  });

  it('sends no cookies', async () => {
    const server = await scriptedServer({ path: '*', json: { features: [], languages: [] } });
    document.cookie = 'session=1; path=/';
    try {
      await new BuilderClient({ baseUrl: server.sameOrigin.url(), token: 'tok' }).getFeatures();
    } finally {
      document.cookie = 'session=; path=/; max-age=0';
    }
    const [seen] = await server.requests(1);
    expect(seen?.headers).not.to.have.property('cookie');
  });
});
