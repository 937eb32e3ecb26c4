import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { readAddress, takeAddress } from '../../../editor/src/shell/address.ts';

const base = 'http://127.0.0.1:8082/editor/?builder=http%3A%2F%2F127.0.0.1%3A8082';

function bar(href: string, acceptToken = true) {
  const replaced: { state: unknown; url: string }[] = [];
  const history = {
    state: { kept: 1 },
    replaceState: (state: unknown, _: string, url: string) => replaced.push({ state, url }),
  };
  return { replaced, opened: takeAddress({ location: { href }, history }, acceptToken) };
}

describe("the reader of the editor's address", () => {
  test('takes the token out of the address and leaves the rest', () => {
    const { replaced, opened } = bar(
      `${base}&token=s3cret&ident=com.acme.t1&namespace=a%2Fb&fn=add&template=typescript&x=1#f`,
    );
    assert.equal(opened.token, 's3cret');
    assert.deepEqual(opened.target, {
      builder: 'http://127.0.0.1:8082',
      ident: 'com.acme.t1',
      namespace: 'a/b',
      fn: 'add',
      template: 'typescript',
    });
    assert.equal(replaced.length, 1);
    assert.deepEqual(replaced[0]?.state, { kept: 1 });
    const url = new URL(replaced[0]?.url ?? '');
    assert.equal(url.href.includes('s3cret'), false);
    assert.deepEqual([...url.searchParams.keys()], ['builder', 'ident', 'namespace', 'fn', 'template', 'x']);
    assert.equal(url.hash, '#f');
  });

  test('removes a token that may not come in an address, and does not use it', () => {
    const { replaced, opened } = bar(`${base}&token=s3cret&ident=com.acme.t1&fn=add`, false);
    assert.equal(replaced.length, 1);
    assert.equal(JSON.stringify([replaced, opened]).includes('s3cret'), false);
    assert.equal(opened.tokenRefused, true);
    assert.equal(opened.target?.fn, 'add');
    const without = bar(`${base}&ident=com.acme.t1&fn=add`, false).opened;
    assert.equal(without.tokenRefused, undefined);
  });

  for (const [name, query] of [
    ['twice', '&token=s3cret&token=s3cret2&ident=com.acme.t1&fn=add'],
    ['under an encoded name', '&%74oken=s3cret&ident=com.acme.t1&fn=add'],
    ['in an address that is not one of a plugin', '&token=s3cret'],
    ['with a builder that is no address', '&builder=x&token=s3cret&ident=com.acme.t1&fn=add'],
  ] as const) {
    test(`removes a token that stands there ${name}`, () => {
      const { replaced } = bar(base + query);
      assert.equal(replaced.length, 1);
      assert.equal(replaced[0]?.url.includes('s3cret'), false);
    });
  }

  test('leaves an address without a token alone', () => {
    const { replaced, opened } = bar(`${base}&ident=com.acme.t1&fn=add`);
    assert.equal(replaced.length, 0);
    assert.equal(opened.token, undefined);
    assert.equal(opened.target?.fn, 'add');
  });

  test('names the parameter of an address that no plugin can be opened with', () => {
    const problem = (query: string) => readAddress(base + query).problem;
    assert.equal(problem('&ident=com.acme.t1'), 'address');
    assert.equal(problem('&ident=acme&fn=add'), 'ident');
    assert.equal(problem('&ident=com.acme.t1&fn=..'), 'fn');
    assert.equal(problem('&ident=com...&fn=add'), 'ident');
    assert.equal(problem('&ident=com.acme.t1&fn=add&namespace=.'), 'namespace');
    assert.deepEqual(readAddress('http://127.0.0.1:8082/editor/'), {});
  });
});
