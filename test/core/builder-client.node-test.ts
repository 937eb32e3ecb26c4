import { describe, it } from 'node:test';

import {
  BuilderClient,
  type BuilderClientOptions,
  type CallOptions,
  SchemaError,
  TimeoutError,
} from '../../src/client.ts';
import { expect } from '../support/expect.ts';
import { rejection, textOf } from '../support/rejection.ts';
import { testServer } from './test-server.ts';

const source = { contents: 'export const run = (x) => x;', lang: 'typescript' };
const features = {
  features: ['testing', 'teleport'],
  languages: [{ identifier: 'ts', pretty: 'TypeScript', short: 'TS' }],
};
const draft = { environment: 'com.acme', userID: 'customer-7', pluginName: 'add-record' };

describe('BuilderClient', () => {
  const fixture = testServer();
  const { start } = fixture;
  const client = (options: Partial<BuilderClientOptions> = {}) =>
    new BuilderClient({ baseUrl: fixture.server.url(), token: 'tok', ...options });

  const calls: [
    name: string,
    call: (client: BuilderClient, options?: CallOptions) => Promise<object>,
    address: string,
    data: object,
  ][] = [
    [
      'getDraft',
      (c, o) => c.getDraft(draft, o),
      '/api/v1/draft/com.acme.customer-7/default/add-record',
      source,
    ],
    [
      'getDraft with a namespace',
      (c, o) => c.getDraft({ ...draft, namespace: 'reports' }, o),
      '/api/v1/draft/com.acme.customer-7/reports/add-record',
      source,
    ],
    [
      'getTemplateV2',
      (c, o) => c.getTemplateV2({ language: 'ts', pluginName: 'add-record' }, o),
      '/api/v2/template/ts/add-record',
      source,
    ],
    [
      'getTemplateV2 with a namespace',
      (c, o) => c.getTemplateV2({ language: 'ts', pluginName: 'p', namespace: 'a&b=ä' }, o),
      '/api/v2/template/ts/p?namespace=a%26b%3D%C3%A4',
      source,
    ],
    [
      'getTemplateV2 with an empty namespace',
      (c, o) => c.getTemplateV2({ language: 'ts', pluginName: 'p', namespace: '' }, o),
      '/api/v2/template/ts/p',
      source,
    ],
    ['getTemplate', (c, o) => c.getTemplate({ language: 'ts' }, o), '/api/v1/template/ts', source],
    ['getFeatures', (c, o) => c.getFeatures(o), '/api/v1/features', features],
  ];

  for (const [name, call, address, data] of calls) {
    it(`${name} requests ${address}`, async () => {
      await start({ json: data });
      expect(await call(client())).to.deep.equal(data);
      const [seen, ...more] = await fixture.server.requests();
      expect(more).to.have.length(0);
      expect(seen).to.include({ method: 'GET', body: '' });
      expect(`${seen?.path}${seen?.search}`).to.equal(address);
      expect(seen?.headers['authorization']).to.equal('Bearer tok');
    });

    it(`${name} rejects with the reason of an aborted signal, without a request`, async () => {
      await start({ json: data });
      const reason = new Error('enough');
      expect(await rejection(call(client(), { signal: AbortSignal.abort(reason) }))).to.equal(reason);
      expect(await fixture.server.requests()).to.have.length(0);
    });
  }

  it('keeps the path of its base address, with or without a final slash', async () => {
    await start({ json: features });
    for (const baseUrl of [fixture.server.url('/b%20c'), fixture.server.url('/b%20c/')])
      await client({ baseUrl }).getFeatures();
    const paths = (await fixture.server.requests()).map(({ path }) => path);
    expect(paths).to.deep.equal(['/b%20c/api/v1/features', '/b%20c/api/v1/features']);
  });

  for (const baseUrl of ['', '/builder', 'javascript:alert(1)', 'https://u:hunter2@b.example']) {
    it(`throws for the base URL ${JSON.stringify(baseUrl)}`, () => {
      expect(() => new BuilderClient({ baseUrl }))
        .to.throw(TypeError, /^baseUrl must/)
        .with.property('message')
        .that.does.not.contain('hunter2');
    });
  }

  describe('token', () => {
    it('is needed for drafts only', async () => {
      await start({ json: { ...source, ...features } });
      const bare = client({ token: undefined });
      await bare.getFeatures();
      await bare.getTemplate({ language: 'ts' });
      await bare.getTemplateV2({ language: 'ts', pluginName: 'p' });
      for (const { headers } of await fixture.server.requests(3))
        expect(headers).not.to.have.property('authorization');
      expect(await rejection(bare.getDraft(draft)))
        .to.be.instanceOf(TypeError)
        .with.property('message')
        .that.contains('token must be set');
      expect(await fixture.server.requests()).to.have.length(3);
    });

    it('is requested for each call when it is a function', async () => {
      await start({ json: features });
      let count = 0;
      const functionClient = client({ token: async () => `tok-${(count += 1)}` });
      await functionClient.getFeatures();
      await client({ token: () => 'plain' }).getFeatures();
      await functionClient.getFeatures();
      const sent = (await fixture.server.requests()).map(({ headers }) => headers['authorization']);
      expect(sent).to.deep.equal(['Bearer tok-1', 'Bearer plain', 'Bearer tok-2']);
    });

    it('passes on what its function throws, and sends nothing', async () => {
      await start({ json: features });
      const mine = new Error('signed out');
      const sync = () => {
        throw mine;
      };
      expect(await rejection(client({ token: sync }).getFeatures())).to.equal(mine);
      expect(await rejection(client({ token: () => Promise.reject(mine) }).getFeatures())).to.equal(mine);
      expect(await fixture.server.requests()).to.have.length(0);
    });

    it('times out or aborts when its function never resolves', async () => {
      await start({ json: features });
      const token = () => new Promise<string>(() => undefined);
      expect(await rejection(client({ token, timeout: 10 }).getFeatures())).to.be.instanceOf(TimeoutError);
      const abort = new AbortController();
      const end = rejection(client({ token }).getFeatures({ signal: abort.signal }));
      const reason = new Error('enough');
      abort.abort(reason);
      expect(await end).to.equal(reason);
      expect(await fixture.server.requests()).to.have.length(0);
    });

    for (const token of ['two words', 'line\nbreak', 'ünï', '\0', 'tab\t']) {
      it(`rejects ${JSON.stringify(token)} without repeating it`, async () => {
        await start({ json: features });
        const error = await rejection(client({ token }).getFeatures());
        expect(error).to.be.instanceOf(TypeError);
        expect(error.message).to.contain('visible ASCII').and.not.to.contain(token);
        expect(await fixture.server.requests()).to.have.length(0);
      });
    }
  });

  it('passes fetch, timeout and retry on to each request', async () => {
    await start({ status: 503, headers: { 'retry-after': '0' } });
    const sent: unknown[] = [];
    const counting = (input: string | URL | Request, init?: RequestInit) => {
      sent.push(input);
      return fetch(input, init);
    };
    await rejection(client({ fetch: counting, retry: 1 }).getFeatures());
    expect(sent).to.deep.equal([
      fixture.server.url('/api/v1/features'),
      fixture.server.url('/api/v1/features'),
    ]);

    await fixture.server.reset({ path: '*', delay: 'hang' });
    expect(await rejection(client({ timeout: 50 }).getFeatures()))
      .to.be.instanceOf(TimeoutError)
      .with.property('message')
      .that.contains('within 50 ms');
  });

  describe('path segments', () => {
    const segments = [
      'plain',
      '%2e%2e',
      '%2E',
      '%2F',
      '%',
      '...',
      '..a',
      'a/b',
      '/',
      '../../etc/passwd',
      'a\\b',
      '?q=1',
      '#frag',
      'a&b=c;d,e+f:g@h',
      "!*'()~",
      '"<>^`{|}[]',
      ' leading and trailing ',
      '\0\t\r\n',
      'é',
      'e\u0301',
      '😀🧑🏽‍🚀',
      '\u{10ffff}\uffff\ufeff',
      'שלום \u202eاليك',
      '漢字かな交じり',
      'com.acme',
    ];
    for (const segment of segments) {
      it(`encodes ${JSON.stringify(segment)} once`, async () => {
        await start({ json: source });
        const userID = segment.includes('.') ? 'u' : segment;
        await client().getDraft({ environment: segment, userID, namespace: segment, pluginName: segment });
        await client().getTemplateV2({
          language: segment,
          pluginName: segment,
          namespace: segment.replace(/^\.+$/, 'n'),
        });
        await client().getTemplate({ language: segment });
        const paths = (await fixture.server.requests()).map(({ path }) => path.split('/').slice(4));
        const decoded = paths.map((parts) => parts.map(decodeURIComponent));
        expect(decoded).to.deep.equal([
          [`${segment}.${userID}`, segment, segment],
          [segment, segment],
          [segment],
        ]);
      });
    }

    const refused: unknown[] = ['', '.', '..', '\ud800', 'a\udc00', undefined, null, 7];
    const fields: [field: string, call: (value: never) => Promise<unknown>][] = [
      ['environment', (environment) => client().getDraft({ ...draft, environment })],
      ['userID', (userID) => client().getDraft({ ...draft, userID })],
      ['namespace', (namespace) => client().getDraft({ ...draft, namespace })],
      ['pluginName', (pluginName) => client().getDraft({ ...draft, pluginName })],
      ['language', (language) => client().getTemplateV2({ language, pluginName: 'p' })],
      ['pluginName', (pluginName) => client().getTemplateV2({ language: 'ts', pluginName })],
      ['language', (language) => client().getTemplate({ language })],
    ];
    for (const [field, call] of fields) {
      it(`rejects a ${field} that no path can hold, before any request`, async () => {
        await start({ json: source });
        for (const value of refused) {
          if (field === 'namespace' && value === undefined) continue;
          const error = await rejection(call(value as never));
          expect(error, String(value)).to.be.instanceOf(TypeError);
          expect(error.message, String(value)).to.match(new RegExp(`^${field} must be`));
        }
        expect(await fixture.server.requests()).to.have.length(0);
      });
    }

    it('rejects a userID with a period, before any request', async () => {
      await start({ json: source });
      for (const userID of ['a.b', '.a', 'a.']) {
        expect(await rejection(client().getDraft({ ...draft, userID })))
          .to.be.instanceOf(TypeError)
          .with.property('message')
          .that.contains('period');
      }
      expect(await fixture.server.requests()).to.have.length(0);
    });
  });

  describe('responses', () => {
    it('keep fields that the interface does not name, at every depth', async () => {
      const full = {
        ...source,
        version: 3,
        tests: [{ name: 'a', description: 'b', payload: 'c', only: null }, {}],
      };
      await start({ json: full });
      expect(await client().getDraft(draft)).to.deep.equal(full);
      const more = { ...features, limits: { size: 1 }, languages: [{ ...features.languages[0], icon: 'i' }] };
      await fixture.server.reset({ path: '*', json: more });
      expect(await client().getFeatures()).to.deep.equal(more);
    });

    const secret = 'value-5ecret';
    const getDraft = () => client().getDraft(draft);
    const getFeatures = () => client().getFeatures();
    const wrong: [call: () => Promise<unknown>, data: unknown, path: string][] = [
      [getDraft, { lang: secret }, 'contents'],
      [getDraft, { contents: secret }, 'lang'],
      [getDraft, { ...source, contents: [secret] }, 'contents'],
      [getDraft, { ...source, tests: secret }, 'tests'],
      [getDraft, { ...source, tests: [{}, secret] }, 'tests.1'],
      [getDraft, { ...source, tests: [{ payload: { secret } }] }, 'tests.0.payload'],
      [getFeatures, { languages: [] }, 'features'],
      [getFeatures, { features: [] }, 'languages'],
      [getFeatures, { features: [1], languages: [] }, 'features.0'],
      [
        getFeatures,
        { features: [], languages: [{ identifier: secret, pretty: secret }] },
        'languages.0.short',
      ],
      [getFeatures, [secret], ''],
    ];
    for (const [call, data, path] of wrong) {
      it(`rejects ${JSON.stringify(data)} as wrong at ${path || 'its root'}`, async () => {
        await start({ json: data });
        const error = await rejection<SchemaError>(call());
        expect(error).to.be.instanceOf(SchemaError);
        expect(error.path).to.equal(path);
        expect(textOf(error)).not.to.contain(secret);
      });
    }
  });
});
