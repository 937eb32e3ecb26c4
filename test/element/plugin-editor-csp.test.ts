import { expect } from '@open-wc/testing';

import { until } from '../support/until.ts';
import { type Page, openPage } from './plugin-editor-page.ts';
import {
  type Changes,
  type Rule,
  SECRET,
  create,
  editorServer,
  untilError,
  flush,
  frames,
  untilState,
  part,
} from './plugin-editor-setup.ts';

const POLICY = 'content-security-policy';

/** An element in a page with the given headers; `$EDITOR` and `$SELF` in these are the two origins, `$PAGE` is the editor's page. */
async function mountInPage(headers: Record<string, string>, changes: Changes = {}, ...rules: Rule[]) {
  const server = await editorServer(...rules);
  const filled = Object.entries(headers).map(([name, value]) => [
    name,
    value
      .replaceAll('$EDITOR', server.origin)
      .replaceAll('$PAGE', server.url('/editor'))
      .replaceAll('$SELF', location.origin),
  ]);
  const page = await openPage(server, {
    headers: Object.fromEntries(filled) as Record<string, string>,
    // One file: the modules alone would be most of what such a page loads.
    module: '/built/modules.js',
  });
  const element = create(server, changes, page.contentDocument);
  const types: string[] = [];
  for (const name of ['state', 'ready', 'error'] as const) {
    element.addEventListener(`plugin-editor-${name}`, (event) =>
      types.push('state' in event ? event.state : name),
    );
  }
  page.contentDocument.body.append(element);
  return { server, page, element, types };
}

/** Adds to the page what its policy forbids, and waits until the browser has reported that. */
async function addBlocked({ contentDocument }: Page, name: 'iframe' | 'img', src: string) {
  const violated = new Promise((resolve) =>
    contentDocument.addEventListener('securitypolicyviolation', resolve, { once: true }),
  );
  contentDocument.body.append(Object.assign(contentDocument.createElement(name), { src }));
  await violated;
}

describe('the error frame-blocked', () => {
  const forbidding = [
    "frame-src 'none'",
    "frame-src 'self'",
    'frame-src https://other.example',
    "child-src 'none'",
    "default-src 'self' 'unsafe-inline'; connect-src 'self'",
  ];
  for (const policy of forbidding) {
    it(`occurs under ${policy}`, async () => {
      const { server, page, element, types } = await mountInPage({ [POLICY]: policy });
      const error = await untilError(element);
      expect(error.code).to.equal('frame-blocked');
      expect(error.message).to.contain(`frame-src ${server.origin}`);
      expect(error.message).not.to.contain(SECRET);
      expect(part(element, 'error')?.textContent).to.contain(
        'This page does not allow the editor to be shown.',
      );
      expect(frames(element)).to.have.length(0);
      // It never becomes ready, although the browser fires `load`.
      expect(types).to.deep.equal(['loading', 'error', 'error']);
      await flush(element, server);
      expect(element.state).to.equal('error');
      expect(await server.requests({ path: '/editor' })).to.have.length(0);
      expect(page.contentWindow.violations).to.have.length(1);
    });
  }

  const allowing = [
    'frame-src $EDITOR',
    'frame-src *',
    "child-src $EDITOR; default-src 'self'",
    "frame-ancestors 'self'",
  ];
  for (const policy of allowing) {
    it(`does not occur under ${policy}`, async () => {
      const { element, types } = await mountInPage({ [POLICY]: policy });
      await untilState(element, 'ready');
      expect(types).to.deep.equal(['loading', 'ready', 'ready']);
    });
  }

  it('does not occur when the policy only reports', async () => {
    const { server, element, page } = await mountInPage({ [`${POLICY}-report-only`]: "frame-src 'none'" });
    await untilState(element, 'ready');
    await until('the report', () => page.contentWindow.violations.length > 0);
    await flush(element, server);
    expect(element.state).to.equal('ready');
  });

  it('does not occur when another frame of the page is blocked', async () => {
    const { server, element, page } = await mountInPage({ [POLICY]: 'frame-src $EDITOR' });
    await untilState(element, 'ready');
    await addBlocked(page, 'iframe', server.crossSite.url('/editor'));
    await flush(element, server);
    expect(element.state).to.equal('ready');
  });

  it('does not occur once the editor has loaded when another frame of its origin is blocked', async () => {
    const { server, element, page } = await mountInPage({ [POLICY]: 'frame-src $PAGE' });
    await untilState(element, 'ready');
    await addBlocked(page, 'iframe', server.url('/other'));
    await flush(element, server);
    expect(element.state).to.equal('ready');
  });

  it('does not occur when a frame is blocked whose origin is the beginning of that of the editor', async () => {
    const { server, element, page } = await mountInPage({ [POLICY]: 'frame-src $EDITOR' });
    await untilState(element, 'ready');
    await addBlocked(page, 'iframe', server.origin.slice(0, -1));
    await flush(element, server);
    expect(element.state).to.equal('ready');
  });

  it('does not occur when an image of the editor is blocked', async () => {
    const { server, element, page } = await mountInPage({ [POLICY]: "img-src 'none'" });
    await untilState(element, 'ready');
    await addBlocked(page, 'img', frames(element)[0]?.src ?? '');
    await flush(element, server);
    expect(element.state).to.equal('ready');
  });
});

describe('a strict content security policy', () => {
  const strict =
    "default-src 'none'; script-src 'self'; connect-src 'self'; frame-src $EDITOR; base-uri 'none'; require-trusted-types-for 'script'";

  it('is not violated until ready', async () => {
    const { page, element } = await mountInPage({ [POLICY]: strict });
    await untilState(element, 'ready');
    expect(element.getBoundingClientRect().height).to.equal(576);
    expect(page.contentWindow.violations).to.deep.equal([]);
  });

  it('is not violated by error, retry and strings', async () => {
    const { page, element } = await mountInPage(
      { [POLICY]: strict },
      { strings: { retry: 'Nochmal' } },
      { path: '/token', times: 1, json: { token: 5 } },
    );
    await untilError(element);
    expect(getComputedStyle(part(element, 'error') as Element).position).to.equal('absolute');
    part(element, 'retry')?.click();
    await untilState(element, 'ready');
    expect(page.contentWindow.violations).to.deep.equal([]);
  });

  it('reports a violation, which these tests would see', async () => {
    const { page, element } = await mountInPage({ [POLICY]: strict });
    await untilState(element, 'ready');
    const violated = new Promise((resolve) =>
      page.contentWindow.addEventListener('securitypolicyviolation', resolve, { once: true }),
    );
    page.contentDocument.body.setAttribute('style', 'color: red');
    await violated;
    expect(page.contentWindow.violations).to.have.length(1);
  });
});
