import { describe, it } from 'node:test';
import { expect } from '../support/expect.ts';

import { baseOf, checkSegment, httpUrl } from '../../src/core/url.ts';
import { encodedPath } from '../../src/core/client/operation.ts';

describe('httpUrl', () => {
  const good: [value: string, base: string | undefined, href: string][] = [
    ['https://editor.example.com', undefined, 'https://editor.example.com/'],
    ['http://localhost:8082/editor/?a=b#c', undefined, 'http://localhost:8082/editor/?a=b#c'],
    ['HTTPS://EXAMPLE.com/A', undefined, 'https://example.com/A'],
    ['/token', 'https://vendor.example/app/page', 'https://vendor.example/token'],
    ['token?x=1', 'https://vendor.example/app/page', 'https://vendor.example/app/token?x=1'],
    ['//other.example/t', 'https://vendor.example/', 'https://other.example/t'],
  ];
  for (const [value, base, href] of good) {
    it(`takes ${value}${base ? ` on ${base}` : ''}`, () => {
      expect(httpUrl('builder', value, base).href).to.equal(href);
    });
  }

  const notHttp = [
    '',
    'editor',
    '/relative/without/base',
    'javascript:alert(1)',
    'JavaScript:alert(1)',
    ' javascript:alert(1)',
    'java\nscript:alert(1)',
    'data:text/html,hidden-words',
    'blob:https://example.com/0-0-0',
    'file:///etc/passwd',
    'ftp://example.com/',
    'ws://example.com/',
    'about:blank',
    'https://',
    'http://[::1',
    'https://example.com:99999/',
  ];
  for (const value of notHttp) {
    it(`refuses ${JSON.stringify(value)}`, () => {
      expect(() => httpUrl('token-endpoint', value)).to.throw(
        TypeError,
        /^token-endpoint must be an http or https address$/,
      );
    });
  }

  it('refuses another scheme also where a base is given', () => {
    expect(() => httpUrl('editor-url', 'javascript:alert(1)', 'https://vendor.example/')).to.throw(TypeError);
    expect(() => httpUrl('editor-url', 'data:,x', 'https://vendor.example/')).to.throw(TypeError);
  });

  for (const value of [
    'https://user@example.com/',
    'https://:hunter2@example.com/',
    'https://u:hunter2@e.com/',
  ]) {
    it(`refuses ${value} and does not repeat it`, () => {
      expect(() => httpUrl('editor-url', value))
        .to.throw(TypeError, /^editor-url must not hold a user name or password$/)
        .with.property('stack')
        .that.does.not.contain('hunter2');
    });
  }
});

describe('checkSegment', () => {
  for (const value of [
    'a',
    '...',
    '. ',
    '.a',
    '%2e%2e',
    'a/b',
    '\\',
    ' ',
    '\0',
    '😀',
    'é',
    'שלום',
    '\uffff',
  ]) {
    it(`takes ${JSON.stringify(value)}`, () => {
      expect(checkSegment('fn', value)).to.equal(value);
    });
  }

  for (const value of ['', '.', '..', '\ud800', 'a\udc00b', '\udc00\ud800', undefined, null, 7, ['a']]) {
    it(`refuses ${JSON.stringify(value) ?? 'undefined'} and names what it is for`, () => {
      expect(() => checkSegment('pluginName', value as string)).to.throw(
        TypeError,
        /^pluginName must be well-formed text, and not empty, '\.' or '\.\.'$/,
      );
    });
  }
});

describe('baseOf and encodedPath', () => {
  const table: [base: string, segments: string[], url: string][] = [
    ['https://b.example', ['api', 'v1'], 'https://b.example/api/v1'],
    ['https://b.example/', ['api'], 'https://b.example/api'],
    ['https://b.example:8443/builder', ['api'], 'https://b.example:8443/builder/api'],
    ['https://b.example/builder/', ['api'], 'https://b.example/builder/api'],
    ['https://b.example/b%20c/?q=1#f', ['api'], 'https://b.example/b%20c/api'],
    ['https://b.example', ['a/b', '%2e%2e', '?', '#'], 'https://b.example/a%2Fb/%252e%252e/%3F/%23'],
  ];
  for (const [base, segments, url] of table) {
    it(`joins ${base} with ${segments.join(', ')}`, () => {
      expect(baseOf(new URL(base)) + encodedPath('', ...segments.map((segment) => ({ segment })))).to.equal(
        url,
      );
    });
  }
});
