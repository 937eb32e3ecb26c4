import type { PluginClient } from '../../../src/core/client/plugin-client.ts';
import { PLUGIN, ROLLOUT, RUN, SESSION, VERSION } from './records.ts';

/** An operation of a client: its call, the request that this sends, and the response. */
export type Operation<Client> = [
  name: string,
  call: (client: Client, options?: { signal: AbortSignal }) => Promise<unknown>,
  sent: string,
  data: object | undefined,
];

export const PATH = 'com.acme.customer-7/default/add-record';

/** What each client can do. `location`: how it names the plugin of `PATH`. */
export const pluginOperations = <Location>(location: Location): Operation<PluginClient<Location>>[] => [
  [
    'getPlugin',
    (c, o) => c.getPlugin(location, o),
    `GET /api/v1/plugin/${PATH}`,
    { ...PLUGIN, draft: null, pinned: null, live: null, latest: null },
  ],
  [
    'listVersions',
    (c, o) => c.listVersions(location, { limit: 1, after: 'c1', ...o }),
    `GET /api/v1/plugin/${PATH}/versions?limit=1&after=c1`,
    { versions: [VERSION] },
  ],
  [
    'getVersion',
    (c, o) => c.getVersion(location, 'v1.0.0', o),
    `GET /api/v1/plugin/${PATH}/versions/v1.0.0`,
    { ...VERSION, contents: 'x', tests: [{ expected: '1' }] },
  ],
  [
    'setLive',
    (c, o) => c.setLive(location, 'v1.0.0', o),
    `PUT /api/v1/plugin/${PATH}/live {"version":"v1.0.0"}`,
    PLUGIN,
  ],
  [
    'setLive to the newest',
    (c, o) => c.setLive(location, null, o),
    `PUT /api/v1/plugin/${PATH}/live {"version":null}`,
    PLUGIN,
  ],
  [
    'deleteVersion',
    (c, o) => c.deleteVersion(location, 'v1.0.0', o),
    `DELETE /api/v1/plugin/${PATH}/versions/v1.0.0`,
    undefined,
  ],
  ['getRollout', (c, o) => c.getRollout(location, o), `GET /api/v1/plugin/${PATH}/rollout`, ROLLOUT],
  [
    'setRollout',
    (c, o) => c.setRollout(location, 'v1.0.1', { percent: 30, stop: { runs: 50, failures: 0.1 } }, o),
    `PUT /api/v1/plugin/${PATH}/rollout {"version":"v1.0.1","percent":30,"stop":{"runs":50,"failures":0.1}}`,
    ROLLOUT,
  ],
  ['endRollout', (c, o) => c.endRollout(location, o), `DELETE /api/v1/plugin/${PATH}/rollout`, undefined],
  [
    'replay',
    (c, o) => c.replay(location, { version: 'v1.0.1', limit: 5, ...o }),
    `POST /api/v1/plugin/${PATH}/replay {"version":"v1.0.1","limit":5}`,
    { replayed: 3, same: 1, different: 1, failed: 1, skipped: 2 },
  ],
  [
    'listRuns',
    (c, o) => c.listRuns(location, { version: 'v1.0.0', success: false, limit: 5, after: 'c1', ...o }),
    `GET /api/v1/plugin/${PATH}/runs?version=v1.0.0&success=false&limit=5&after=c1`,
    { runs: [RUN], next: 'c2' },
  ],
  ['getRun', (c, o) => c.getRun('0193-7a', o), 'GET /api/v1/run/0193-7a', RUN],
  [
    'getTypes',
    (c, o) => c.getTypes(location, o),
    `GET /api/v1/types/${PATH}`,
    {
      declarations: 'type Input = 1',
      input: {},
      samples: [{ name: 'a', input: 1 }],
      connections: [{ name: 'rates', origin: 'https://rates.example', methods: ['GET'] }],
    },
  ],
  [
    'getTypes in Python',
    (c, o) => c.getTypes(location, { language: 'python', ...o }),
    `GET /api/v1/types/${PATH}?language=python`,
    { declarations: '' },
  ],
  [
    'getSession',
    (c, o) => c.getSession(o),
    'GET /api/v1/session',
    { ...SESSION, usage: { storageMb: 1.5, recordsMb: 0, allowedStorageMb: 500 } },
  ],
];
