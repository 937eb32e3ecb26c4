import { describe, it } from 'node:test';
import { expect } from '../support/expect.ts';

import { type RawConfig, checkConfig, missingAttributes } from '../../src/core/config.ts';
import { PluginEditorError } from '../../src/core/errors.ts';

const base = 'https://vendor.example/app/page?x=1';
const raw: RawConfig = {
  editorUrl: 'https://editor.example.com/',
  builder: 'https://builder.example.com',
  ident: 'com.acme.customer-7',
  fn: 'add-record',
  tokenEndpoint: '/plugins/editor-token',
};

/** JSON knows neither NaN nor Infinity. */
const numbersAsText = (_: string, value: unknown) => (typeof value === 'number' ? String(value) : value);

function refusal(change: object): PluginEditorError {
  try {
    checkConfig({ ...raw, ...change }, base);
  } catch (error) {
    return error as PluginEditorError;
  }
  throw new Error('Nothing was refused');
}

describe('missingAttributes', () => {
  const table: [change: object, names: string[]][] = [
    [{}, []],
    [{ editorUrl: undefined }, ['editor-url']],
    [{ builder: null }, ['builder']],
    [{ ident: '' }, ['ident']],
    [{ fn: undefined }, ['fn']],
    [{ tokenEndpoint: undefined }, ['token-endpoint']],
    [{ tokenEndpoint: undefined, fetchToken: async () => 't' }, []],
    [
      { editorUrl: '', builder: '', ident: '', fn: '', tokenEndpoint: '' },
      ['editor-url', 'builder', 'ident', 'fn', 'token-endpoint'],
    ],
    [{ namespace: '', template: '', tokenMethod: '', timeout: null }, []],
  ];
  for (const [change, names] of table) {
    it(`finds ${names.join(', ') || 'nothing'} missing with ${JSON.stringify(change)}${'fetchToken' in change ? ' and fetchToken' : ''}`, () => {
      expect(missingAttributes({ ...raw, ...change })).to.deep.equal(names);
    });
  }
});

describe('checkConfig', () => {
  it('fills in the defaults', () => {
    expect(checkConfig(raw, base)).to.deep.include({
      editorUrl: 'https://editor.example.com/',
      builder: 'https://builder.example.com',
      ident: 'com.acme.customer-7',
      namespace: 'default',
      fn: 'add-record',
      template: '',
      tokenMethod: 'post',
      credentials: 'same-origin',
      tokenDelivery: 'url',
      loading: 'eager',
      timeout: 15_000,
    });
  });

  const empty: [change: object, name: string, value: unknown][] = [
    [{ namespace: '' }, 'namespace', 'default'],
    [{ namespace: null }, 'namespace', 'default'],
    [{ template: null }, 'template', ''],
    [{ tokenMethod: null }, 'tokenMethod', 'post'],
    [{ credentials: null }, 'credentials', 'same-origin'],
    [{ tokenDelivery: null }, 'tokenDelivery', 'url'],
    [{ loading: null }, 'loading', 'eager'],
    [{ tokenMethod: '' }, 'tokenMethod', 'post'],
    [{ loading: '' }, 'loading', 'eager'],
    [{ timeout: null }, 'timeout', 15_000],
  ];
  const set: [change: object, name: string, value: unknown][] = [
    [{ editorUrl: '../editor/?a=1#b' }, 'editorUrl', 'https://vendor.example/editor/?a=1#b'],
    [{ builder: 'http://localhost:8082/b/' }, 'builder', 'http://localhost:8082/b/'],
    [{ ident: 'acme.ünï/7' }, 'ident', 'acme.ünï/7'],
    [{ namespace: 'reports' }, 'namespace', 'reports'],
    [{ fn: '%2e%2e' }, 'fn', '%2e%2e'],
    [{ template: 'typescript' }, 'template', 'typescript'],
    [{ tokenMethod: 'get' }, 'tokenMethod', 'get'],
    [{ credentials: 'omit' }, 'credentials', 'omit'],
    [{ credentials: 'include' }, 'credentials', 'include'],
    [{ loading: 'lazy' }, 'loading', 'lazy'],
    [{ tokenMethod: 'GET' }, 'tokenMethod', 'get'],
    [{ loading: 'LAZY' }, 'loading', 'lazy'],
    [{ timeout: 1 }, 'timeout', 1],
    [{ timeout: 2 ** 31 - 1 }, 'timeout', 2 ** 31 - 1],
  ];
  for (const [change, name, value] of [...empty, ...set]) {
    it(`sets ${name} to ${String(value)} for ${JSON.stringify(change)}`, () => {
      expect(checkConfig({ ...raw, ...change }, base)).to.have.property(name, value);
    });
  }

  it('ignores the token endpoint when there is a fetchToken function', () => {
    for (const tokenEndpoint of [undefined, 'javascript:alert(1)']) {
      expect(() => checkConfig({ ...raw, tokenEndpoint, fetchToken: async () => 't' }, base)).not.to.throw();
    }
  });

  const wrong: [change: object, attribute: string, right: string][] = [
    [{ editorUrl: 'javascript:alert(1)' }, 'editor-url', 'http or https'],
    [{ editorUrl: 'data:text/html,x' }, 'editor-url', 'http or https'],
    [{ editorUrl: 'https://[bad/' }, 'editor-url', 'http or https'],
    [{ editorUrl: 'https://me:hunter2@editor.example/' }, 'editor-url', 'user name or password'],
    [{ builder: 'javascript:alert(1)' }, 'builder', 'http or https'],
    [{ builder: '/builder' }, 'builder', 'http or https'],
    [{ builder: 'https://me@builder.example/' }, 'builder', 'user name or password'],
    [{ tokenEndpoint: 'javascript:alert(1)' }, 'token-endpoint', 'http or https'],
    [{ tokenEndpoint: 'data:application/json,{}' }, 'token-endpoint', 'http or https'],
    [{ tokenEndpoint: 'https://me:hunter2@vendor.example/t' }, 'token-endpoint', 'user name or password'],
    [{ ident: 'acme' }, 'ident', 'com.acme.customer-7'],
    [{ ident: '.tenant' }, 'ident', 'com.acme.customer-7'],
    [{ ident: 'com.acme.' }, 'ident', 'com.acme.customer-7'],
    [{ ident: 'com.acme.\ud800' }, 'ident', 'well-formed'],
    [{ ident: 'com\udc00.t' }, 'ident', 'well-formed'],
    [{ namespace: '..' }, 'namespace', "'..'"],
    [{ namespace: '\ud800' }, 'namespace', 'well-formed'],
    [{ fn: '.' }, 'fn', "'.'"],
    [{ fn: '..' }, 'fn', "'..'"],
    [{ fn: '\ud800' }, 'fn', 'well-formed'],
    [{ template: '..' }, 'template', "'..'"],
    [{ tokenMethod: 'put' }, 'token-method', 'post or get'],
    [{ tokenMethod: 5 }, 'token-method', 'post or get'],
    [{ credentials: 'yes' }, 'credentials', 'same-origin or omit or include'],
    [{ tokenDelivery: 'carrier pigeon' }, 'token-delivery', 'url'],
    [{ loading: 'later' }, 'loading', 'eager or lazy'],
    [{ timeout: 0 }, 'timeout', 'milliseconds'],
    [{ timeout: -1 }, 'timeout', 'milliseconds'],
    [{ timeout: NaN }, 'timeout', 'milliseconds'],
    [{ timeout: Infinity }, 'timeout', 'below 2 ** 31'],
    [{ timeout: 2 ** 31 }, 'timeout', 'below 2 ** 31'],
  ];
  for (const [change, attribute, right] of wrong) {
    it(`rejects ${JSON.stringify(change, numbersAsText)}, naming ${attribute} and what would be right`, () => {
      const error = refusal(change);
      expect(error).to.be.instanceOf(PluginEditorError);
      expect(error).to.include({ code: 'config', attempts: 0 });
      expect(error.message.startsWith(`${attribute} must`), error.message).to.equal(true);
      expect(error.message).to.contain(right).and.not.to.contain('hunter2');
    });
  }
});
