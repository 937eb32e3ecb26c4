import { describe, it } from 'node:test';
import { expect } from '../support/expect.ts';
import * as fc from 'fast-check';

import { type EditorAddress, buildEditorUrl, parseEditorUrl } from '../../src/client.ts';

const plain: EditorAddress = {
  editorUrl: 'https://editor.example.com/',
  builder: 'https://builder.example.com',
  ident: 'com.acme.customer-7',
  fn: 'add-record',
};
const plainQuery = 'builder=https%3A%2F%2Fbuilder.example.com&ident=com.acme.customer-7&fn=add-record';
const build = (change: Partial<EditorAddress>) => buildEditorUrl({ ...plain, ...change });

describe('buildEditorUrl', () => {
  it('writes all parameters in the order of the interface, whatever order they are given in', () => {
    const address = buildEditorUrl({
      template: 'typescript',
      fn: 'f',
      namespace: 'n',
      ident: 'a.t',
      token: 'k',
      builder: 'https://b.example',
      editorUrl: 'https://e.example/',
    });
    expect(address).to.equal(
      'https://e.example/?builder=https%3A%2F%2Fb.example&token=k&ident=a.t&namespace=n&fn=f&template=typescript',
    );
  });

  const leftOut: Partial<EditorAddress>[] = [
    {},
    { namespace: 'default' },
    { namespace: '' },
    { namespace: undefined },
    { template: '' },
    { template: undefined },
    { token: '' },
    { token: undefined },
  ];
  for (const change of leftOut) {
    const [[name, value] = ['nothing more', '']] = Object.entries(change);
    it(`leaves ${name} out when it is ${JSON.stringify(value) ?? 'undefined'}`, () => {
      expect(build(change)).to.equal(`https://editor.example.com/?${plainQuery}`);
    });
  }

  it('writes a namespace that merely resembles the default', () => {
    expect(build({ namespace: 'Default' })).to.contain('&namespace=Default&');
  });

  /** What must come before and after the parameters of the interface. */
  const kept: [editorUrl: string, before: string, after: string][] = [
    ['https://e.example', 'https://e.example/?', ''],
    ['https://e.example/a/../b%2Fc', 'https://e.example/b%2Fc?', ''],
    ['https://e.example/?', 'https://e.example/?', ''],
    ['https://e.example/#', 'https://e.example/?', '#'],
    ['https://e.example/#/route?token=x&fn=y', 'https://e.example/?', '#/route?token=x&fn=y'],
    ['https://e.example/?theme=dark', 'https://e.example/?theme=dark&', ''],
    ['https://e.example/?b=2&a=1&b=3#x', 'https://e.example/?b=2&a=1&b=3&', '#x'],
    ['https://e.example/?q=a+b%20c%2Bd', 'https://e.example/?q=a+b%20c%2Bd&', ''],
    ['https://e.example/?flag&empty=&=v', 'https://e.example/?flag&empty=&=v&', ''],
    ['https://e.example/?x=%E4%FF%zz', 'https://e.example/?x=%E4%FF%zz&', ''],
    ['https://e.example/?%61=%c3%a4&a=%C3%A4', 'https://e.example/?%61=%c3%a4&a=%C3%A4&', ''],
    ['https://e.example/?a=b=c;d,e:f@g/h?i', 'https://e.example/?a=b=c;d,e:f@g/h?i&', ''],
    [
      'https://e.example/?Token=1&FN=2&tokens=3&my-fn=4',
      'https://e.example/?Token=1&FN=2&tokens=3&my-fn=4&',
      '',
    ],
    ['https://e.example/?&&a=1&&b=2&', 'https://e.example/?a=1&b=2&', ''],
    ['https://e.example/??token=1', 'https://e.example/??token=1&', ''],
    ['https://e.example/?fn=1&?a=2', 'https://e.example/??a=2&', ''],
  ];
  for (const [editorUrl, before, after] of kept) {
    it(`keeps foreign parameters and the fragment of ${editorUrl}`, () => {
      expect(build({ editorUrl })).to.equal(before + plainQuery + after);
    });
  }

  const reserved = [
    'token=old',
    '%74oken=old',
    'tok%65n=old',
    'token',
    'token=',
    'token=1&token=2',
    'fn=old&builder=http://evil.example&ident=x&namespace=y&template=z',
    '%66%6E=old',
  ];
  for (const query of reserved) {
    it(`replaces its own parameters in ?${query}`, () => {
      const address = build({ editorUrl: `https://e.example/?a=1&${query}&b=2` });
      expect(address).to.equal(`https://e.example/?a=1&b=2&${plainQuery}`);
      expect(build({ editorUrl: `https://e.example/?${query}` })).to.equal(
        `https://e.example/?${plainQuery}`,
      );
    });
  }

  const values: [value: string, encoded: string][] = [
    ['a b+c', 'a%20b%2Bc'],
    ['&=?#%', '%26%3D%3F%23%25'],
    ['%2e%2e', '%252e%252e'],
    ['a/b\\c', 'a%2Fb%5Cc'],
    ['ä', '%C3%A4'],
    ['😀', '%F0%9F%98%80'],
    ['a\u0301', 'a%CC%81'],
    ['\0\r\n\t', '%00%0D%0A%09'],
    ['<"\'>', '%3C%22%27%3E'],
  ];
  for (const [value, encoded] of values) {
    it(`encodes ${JSON.stringify(value)} once`, () => {
      expect(build({ fn: value }))
        .to.match(/&fn=([^&]*)$/)
        .and.to.satisfy((url: string) => url.endsWith(`&fn=${encoded}`));
    });
  }

  const wrong: [change: Partial<EditorAddress>, message: string | RegExp][] = [
    [{ editorUrl: '/editor' }, 'editorUrl must be an http or https address'],
    [{ editorUrl: 'javascript:alert(1)' }, 'editorUrl must be an http or https address'],
    [{ editorUrl: 'https://u:hunter2@e.example' }, /^editorUrl must not hold a user name or password$/],
    [{ builder: '' }, 'builder must be an http or https address'],
    [{ builder: '/builder' }, 'builder must be an http or https address'],
    [{ builder: 'https://u:hunter2@b.example' }, /^builder must not hold a user name or password$/],
    [{ ident: '' }, 'ident and fn must not be empty'],
    [{ fn: '' }, 'ident and fn must not be empty'],
    [{ builder: 'https://b.example/\ud800' }, 'builder must be well-formed text'],
    [{ token: '\ud800' }, 'token must be well-formed text'],
    [{ ident: 'a.\udc00' }, 'ident must be well-formed text'],
    [{ namespace: '\ud800' }, 'namespace must be well-formed text'],
    [{ fn: '\ud800x' }, 'fn must be well-formed text'],
    [{ template: '\udfff' }, 'template must be well-formed text'],
  ];
  for (const [change, message] of wrong) {
    it(`rejects ${JSON.stringify(change)}`, () => {
      expect(() => build(change)).to.throw(TypeError, message);
    });
  }
});

describe('parseEditorUrl', () => {
  it('returns what the URL holds', () => {
    const address =
      'https://e.example/x?a=1&fn=f&template=ts&builder=https://b.example/p&%74oken=k+k&ident=a.b.t&namespace=n&z#top';
    expect(parseEditorUrl(address)).to.deep.equal({
      editorUrl: 'https://e.example/x?a=1&z#top',
      builder: 'https://b.example/p',
      token: 'k k',
      ident: 'a.b.t',
      namespace: 'n',
      fn: 'f',
      template: 'ts',
    });
  });

  it('fills in the default namespace, and leaves out what is missing or empty', () => {
    const expected = { ...plain, namespace: 'default' };
    expect(parseEditorUrl(`https://editor.example.com/?${plainQuery}`)).to.deep.equal(expected);
    const empty = `https://editor.example.com/?token=&namespace=&template=&${plainQuery}`;
    expect(parseEditorUrl(empty)).to.deep.equal(expected);
  });

  it('keeps a question mark at the start of a foreign parameter', () => {
    const address = `https://e.example/?${plainQuery}&?a=1`;
    expect(parseEditorUrl(address).editorUrl).to.equal('https://e.example/??a=1');
  });

  const wrong: [address: string, message: string | RegExp][] = [
    ['', 'The editor address must be an http or https address'],
    [`javascript:x?${plainQuery}`, 'The editor address must be an http or https address'],
    [
      `https://u:hunter2@e.example/?${plainQuery}`,
      /^The editor address must not hold a user name or password$/,
    ],
    ['https://e.example/?ident=a.t&fn=f', 'must have the parameters builder, ident and fn'],
    ['https://e.example/?builder=https://b.example&fn=f', 'must have the parameters builder, ident and fn'],
    [
      'https://e.example/?builder=https://b.example&ident=a.t',
      'must have the parameters builder, ident and fn',
    ],
    [
      'https://e.example/?builder=https://b.example&ident=&fn=f',
      'must have the parameters builder, ident and fn',
    ],
    [
      'https://e.example/?builder=javascript:alert(1)&ident=a.t&fn=f',
      'builder must be an http or https address',
    ],
  ];
  for (const [address, message] of wrong) {
    it(`rejects ${JSON.stringify(address)}`, () => {
      expect(() => parseEditorUrl(address)).to.throw(TypeError, message);
    });
  }
});

// That they are inverse for all others is one of the properties in `properties.ts`.
describe('buildEditorUrl and parseEditorUrl', () => {
  it('reject a string if and only if it is not well-formed', () => {
    const units = fc.array(fc.constantFrom('a', '\ud83d', '\ude00', '\ud83d\ude00'), { minLength: 1 });
    fc.assert(
      fc.property(units, (parts) => {
        const fn = parts.join('');
        if (fn.isWellFormed()) expect(parseEditorUrl(build({ fn })).fn).to.equal(fn);
        else expect(() => build({ fn })).to.throw(TypeError, 'fn must be well-formed');
      }),
      { numRuns: 100 },
    );
  });
});
