// Responses of a service, each with an additional field.

export const SOURCE = { contents: 'export const run = (text) => text;', lang: 'javascript', more: 1 };

export const PLUGIN = {
  ident: 'com.acme.customer-7',
  namespace: 'default',
  name: 'add-record',
  lang: 'javascript',
  draft: { revision: '"r1"', savedAt: '2031-01-02T03:04:05Z', actor: 'u-1' },
  built: true,
  live: 'v1.0.0',
  latest: 'v1.0.1',
  pinned: { version: 'v1.0.0', at: '2031-01-02T03:04:05Z' },
  versions: 2,
  outdated: false,
  more: { kept: true },
};

export const VERSION = {
  version: 'v1.0.0',
  deployedAt: '2031-01-02T03:04:05Z',
  lang: 'javascript',
  digest: '00ff',
  live: true,
  more: 1,
};

export const ROLLOUT = {
  version: 'v1.0.1',
  percent: 30,
  startedAt: '2031-01-02T03:04:05Z',
  stop: { runs: 50, failures: 0.1, more: 1 },
  runs: 3,
  failures: 1,
  live: { version: 'v1.0.0', runs: 7, failures: 0, more: 1 },
  stopped: { at: '2031-01-02T03:04:05Z', reason: 'ended' },
  more: 1,
};

export const RUN = {
  uuid: '0193-7a',
  timestamp: '2031-01-02T03:04:05Z',
  ident: 'com.acme.customer-7',
  namespace: 'default',
  name: 'add-record',
  version: 'v1.0.0',
  success: false,
  error: { code: 'plugin-error', message: 'no price' },
  took: 1.5,
  inputBytes: 2,
  outputBytes: 0,
  logs: ['hello'],
  more: 1,
};

export const SESSION = { environment: 'com.acme', permissions: ['read'], expires_in: 60, more: 1 };
