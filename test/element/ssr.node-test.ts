import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

import { render } from '@lit-labs/ssr';
import { collectResult } from '@lit-labs/ssr/lib/render-result.js';
import { html } from 'lit';

import { startScriptedServer } from '../support/scripted-server-node.ts';
import { connectLauncher } from '../../src/editor.ts';
import '../../src/plugin-editor.ts';

const src = fileURLToPath(new URL('../../src', import.meta.url));

for (const entry of ['index.ts', 'plugin-editor.ts', 'elements.ts', 'client.ts']) {
  test(`importing ${entry} twice on a server throws nothing and prints nothing`, () => {
    const code = `await import('${src}/${entry}'); await import('${src}/${entry}?again');`;
    const { status, stdout, stderr } = spawnSync(
      process.execPath,
      ['--disable-warning=ExperimentalWarning', '--input-type=module', '--eval', code],
      // Without the conditions and preloads of this process.
      { encoding: 'utf8', env: { ...process.env, NODE_OPTIONS: '', NODE_ENV: 'production' } },
    );
    assert.equal(stderr, '');
    assert.equal(stdout, '');
    assert.equal(status, 0);
  });
}

test('the main entry exports elements, events, texts and errors alone', async () => {
  const names = Object.keys(await import('../../src/index.ts'));
  const known = /^(Plugin(Editor|Features)(\w*Event|Element)|default(Features)?Strings|[A-Z]\w+Error)$/;
  assert.deepEqual(
    names.filter((name) => !known.test(name)),
    [],
  );
});

test('connectLauncher() on a server does nothing and returns undefined', () => {
  assert.equal(connectLauncher({ onOpen: () => assert.fail() }), undefined);
});

test('rendering on a server makes no frame and no request', async () => {
  await using server = await startScriptedServer({ path: '/*', json: { token: 't' } });
  let requests = 0;
  const fetchToken = () => {
    requests += 1;
    return Promise.resolve('t');
  };
  const page = await collectResult(
    render(html`
      <plugin-editor
        editor-url=${server.url('/editor')}
        builder=${server.url()}
        ident="com.example.a"
        fn="f"
        token-endpoint=${server.url('/token')}
        >Inside</plugin-editor
      >
      <plugin-editor
        editor-url=${server.url('/editor')}
        builder=${server.url()}
        ident="com.example.a"
        fn="f"
        .fetchToken=${fetchToken}
      ></plugin-editor>
    `),
  );
  assert.match(page, /<plugin-editor[^>]*ident="com\.example\.a"/);
  assert.match(page, /<template shadowroot/);
  assert.match(page, /<slot name="idle"/);
  assert.match(page, /Inside/);
  assert.doesNotMatch(page, /<iframe|token=|<button|<progress/);

  // An earlier request would have arrived before this one.
  await fetch(server.url('/ping'));
  assert.deepEqual(
    (await server.requests()).map(({ path }) => path),
    ['/ping'],
  );
  assert.equal(requests, 0);
});

test('an invalid attribute does not break the rendering of the page', async () => {
  const page = await collectResult(
    render(
      html`<plugin-editor editor-url="javascript:1" ident="x"></plugin-editor>
        <p>After</p>`,
    ),
  );
  assert.match(page, /<p>After<\/p>/);
});
