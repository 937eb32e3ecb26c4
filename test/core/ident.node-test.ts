import { describe, it } from 'node:test';
import { expect } from '../support/expect.ts';

import { joinIdent, parseIdent } from '../../src/client.ts';

describe('ident', () => {
  const pairs: [ident: string, environment: string, tenant: string][] = [
    ['com.acme.customer-7', 'com.acme', 'customer-7'],
    ['acme.t', 'acme', 't'],
    ['a..t', 'a.', 't'],
    ['..t', '.', 't'],
    ['com.acme.a/b c', 'com.acme', 'a/b c'],
    ['com.acme.😀', 'com.acme', '😀'],
    ['münchen.שלום', 'münchen', 'שלום'],
  ];
  for (const [ident, environment, tenant] of pairs) {
    it(`splits ${ident} at its last period, and joins it again`, () => {
      expect(parseIdent(ident)).to.deep.equal({ environment, tenant });
      expect(joinIdent({ environment, tenant })).to.equal(ident);
    });
  }

  for (const ident of ['', '.', '..', 'acme', '.tenant', 'acme.', 'com.acme.']) {
    it(`rejects ${JSON.stringify(ident)} and says what would be right`, () => {
      expect(() => parseIdent(ident)).to.throw(TypeError, /^ident must be .*such as com\.acme\.customer-7/);
    });
  }

  it('rejects what is no text by its name', () => {
    expect(() => parseIdent(undefined as never)).to.throw(TypeError, 'ident must be well-formed text');
    for (const [name, parts] of Object.entries({
      environment: { environment: undefined, tenant: 't' },
      tenant: { environment: 'acme', tenant: 7 },
    }))
      expect(() => joinIdent(parts as never)).to.throw(TypeError, `${name} must be well-formed text`);
  });

  const wrong = [
    { environment: '', tenant: 't' },
    { environment: 'acme', tenant: '' },
    { environment: 'com.acme', tenant: 'a.b' },
    { environment: 'com.acme', tenant: '.' },
  ];
  for (const parts of wrong) {
    it(`rejects ${JSON.stringify(parts)} as parts to join`, () => {
      expect(() => joinIdent(parts)).to.throw(TypeError, 'the tenant must hold no period');
    });
  }
});
