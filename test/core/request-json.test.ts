import { expect } from '@open-wc/testing';
import * as z from 'zod/mini';

import { HttpError, NetworkError, SchemaError, TimeoutError } from '../../src/client.ts';
import { parseWith } from '../../src/core/client/operation.ts';
import { type RequestOptions, readJson, request } from '../../src/core/request.ts';
import { type Rule, type ScriptedServer, scriptedServer } from '../support/scripted-server.ts';
import { rejection, textOf } from '../support/rejection.ts';

const schema = z.object({ list: z.array(z.object({ name: z.string() })) });
const SECRET = 'tok-5ecret';

describe('a request for JSON', () => {
  let server: ScriptedServer;

  const start = async (...rules: Omit<Rule, 'path'>[]) => {
    server = await scriptedServer(...rules.map((rule) => ({ path: '/x', ...rule })));
  };
  const askJson = (options: Partial<RequestOptions> = {}) =>
    request({ url: server.url('/x'), ...options }, readJson(parseWith(schema)));

  it('returns data that fits the schema', async () => {
    await start({ json: { list: [{ name: 'a' }] }, headers: { 'x-one': '1' } });
    const { data, headers } = await askJson();
    expect(data).to.deep.equal({ list: [{ name: 'a' }] });
    expect(headers.get('x-one')).to.equal('1');
  });

  const wrong: [name: string, rule: Omit<Rule, 'path'>, path: string, problem: string][] = [
    ['HTML', { html: `<title>${SECRET}</title>` }, '', 'not JSON'],
    ['nothing', { status: 204 }, '', 'not JSON'],
    ['half of it', { body: `{"list":[{"name":"${SECRET}"` }, '', 'not JSON'],
    ['null', { json: null }, '', 'expected object'],
    ['text', { json: SECRET }, '', 'expected object'],
    ['a list', { json: [SECRET] }, '', 'expected object'],
    ['a missing field', { json: { other: SECRET } }, 'list', 'expected array'],
    ['a field of another type', { json: { list: SECRET } }, 'list', 'expected array'],
    ['a wrong element', { json: { list: [{ name: 'a' }, SECRET] } }, 'list.1', 'expected object'],
    ['a wrong field deep inside', { json: { list: [{ name: [SECRET] }] } }, 'list.0.name', 'expected string'],
  ];
  for (const [name, rule, path, problem] of wrong) {
    it(`rejects ${name} with a SchemaError that says where, but not what`, async () => {
      await start(rule);
      const error = await rejection<SchemaError>(askJson());
      expect(error).to.be.instanceOf(SchemaError);
      expect(error).to.include({ name: 'SchemaError', path, attempts: 1 });
      expect(error.message).to.equal(
        `GET ${server.url('/x')} returned wrong data: ${path && `${path}: `}${problem}`,
      );
      expect(textOf(error)).not.to.contain(SECRET);
      expect(await server.requests()).to.have.length(1);
    });
  }

  it('counts the requests that were sent before a wrong response', async () => {
    await start({ times: 2, status: 503, headers: { 'retry-after': '0' } }, { json: 7 });
    expect(await rejection(askJson())).to.include({ name: 'SchemaError', attempts: 3 });
  });

  const failures: [Rule, new (...args: never[]) => Error][] = [
    [{ path: '/x', status: 404 }, HttpError],
    [{ path: '/x', body: 'x' }, SchemaError],
    [{ path: '/x', delay: 'hang' }, TimeoutError],
    [{ path: '/x', drop: 'start' }, NetworkError],
  ];
  for (const [rule, Expected] of failures) {
    it(`keeps query and fragment out of the message of a ${Expected.name}`, async () => {
      server = await scriptedServer(rule);
      for (const end of ['?token=', '#', '?a#']) {
        const error = await rejection(
          askJson({ url: server.url(`/x${end}${SECRET}`), retry: 0, timeout: rule.delay ? 100 : 50_000 }),
        );
        expect(error).to.be.instanceOf(Expected);
        expect(error.message).to.contain('GET http').and.not.to.contain(SECRET);
      }
    });
  }
});
