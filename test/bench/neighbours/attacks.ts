import type { Socket } from 'node:net';
import type { Attack, Attacker } from './attack.ts';

/** What the sandbox's author writes to get records that take as much room as records may. */
const loudPlugin = `export function run(input) {
  console.log('\\u0001'.repeat(16_000));
  return input;
}
`;

/** Characters that JSON writes with six bytes each, which the service accepts in a source. */
const controlCharacters = '\u0001'.repeat(690_000);

const letters = 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789';

/** A different text of three letters for each number up to 238,327. */
const shortKey = (i: number): string =>
  [i, i / 62, i / 3844].map((n) => letters[Math.floor(n) % 62]).join('');

/** A draft with a test of `keyCount` unknown fields, in which clients may keep what they like. */
function draftWith(keyCount: number, contents = 'export const run = (input) => input;\n'): string {
  const keys = Array.from({ length: keyCount }, (_, i) => `"${shortKey(i)}":0`);
  return `{"contents":${JSON.stringify(contents)},"lang":"javascript","tests":[{${keys.join(',')}}]}`;
}

/** More fields than the service accepts today, and nearly as many as it does. */
const hugeDraft = draftWith(120_000);
const largeDraft = (turn: number) => draftWith(19_900, `// ${turn}\n`.padEnd(800_000, 'x'));

/** Saves the draft with the most fields that the service accepts. */
async function saveLargest(attacker: Attacker, name: string): Promise<void> {
  const token = await attacker.editorToken(name);
  const { status } = await attacker.save(name, token, hugeDraft);
  if (status !== 200) await attacker.save(name, token, largeDraft(0));
}

/** Fills the records of a plugin's runs. */
async function recordLoudRuns(attacker: Attacker, name: string): Promise<void> {
  const token = await attacker.editorToken(name);
  await attacker.deploy(name, token, loudPlugin);
  const run = () =>
    attacker.send('POST', `/exec/name/${attacker.plugin(name)}`, {
      token: attacker.position.environmentToken,
    });
  for (let i = 0; i < 130; i += 5) await Promise.all(Array.from({ length: 5 }, run));
}

const runsPath = (attacker: Attacker, name: string) =>
  `/api/v1/plugin/${attacker.plugin(name)}/runs?limit=200`;

/** So many bytes of a body, each in a chunk with no other. */
function* bytesAsChunks(count: number): Iterable<Buffer> {
  const part = Buffer.from('1\r\nx\r\n'.repeat(10_000));
  for (let sent = 0; sent < count; sent += 10_000) yield part;
}

/** Two schemas of 64 KB whose parts have long names: by path, and by address. */
const longNames = {
  properties: { [`Ā${'a'.repeat(32_000)}`]: { allOf: Array.from({ length: 10_800 }, () => ({})) } },
};
const longAddresses = {
  $id: `https://example.com/${'a'.repeat(20_000)}/`,
  $defs: Object.fromEntries(Array.from({ length: 2000 }, (_, i) => [shortKey(i), { $id: shortKey(i) }])),
};

/** Attacks that once stopped the service or slowed it for all, each at the rate that was enough for that. */
export const known: Readonly<Record<string, Attack>> = {
  S1: {
    title: 'schemas of 64 KB that take long to read',
    run: (attacker) =>
      attacker.repeat(200, (turn) => {
        const path = `/api/v1/environment/${attacker.position.environment}/namespaces/n${turn % 2}`;
        const body = JSON.stringify({ input: turn % 2 ? longAddresses : longNames });
        const { environmentToken: token } = attacker.position;
        return attacker.send('PUT', path, { token, body, type: 'application/json' });
      }),
  },

  S2: {
    title: '250 reads of a large draft, and of pages of runs, in one packet, unread',
    async prepare(attacker) {
      await saveLargest(attacker, 'large');
      await recordLoudRuns(attacker, 'loud');
    },
    async run(attacker) {
      const token = await attacker.editorToken('large');
      const drafts = attacker.rawGet(`/api/v1/draft/${attacker.plugin('large')}`, token).repeat(250);
      const { environmentToken } = attacker.position;
      const runs = attacker.rawGet(runsPath(attacker, 'loud'), environmentToken).repeat(250);
      await Promise.all([drafts, runs].map((bytes) => attacker.keepConnections(1, () => [bytes])));
    },
  },

  S3: {
    title: '100 bodies without a token and 16 with one, in chunks of one byte',
    async run(attacker) {
      const token = await attacker.editorToken('chunked');
      const path = `/api/v1/draft/${attacker.plugin('chunked')}`;
      function* body(tokenToSend?: string) {
        yield attacker.rawChunkedPost(path, tokenToSend);
        yield* bytesAsChunks(tokenToSend === undefined ? 20_000_000 : 1_040_000);
      }
      await Promise.all([
        attacker.keepConnections(100, () => body()),
        attacker.keepConnections(16, () => body(token)),
      ]);
    },
  },

  S4: {
    title: 'three saves of a large draft a second, each followed by its progress',
    async run(attacker) {
      const token = await attacker.editorToken('large');
      await attacker.repeat(333, async (turn) => {
        await attacker.save('large', token, turn % 2 ? hugeDraft : largeDraft(turn));
        await attacker.send('GET', `/api/v1/progress/${attacker.plugin('large')}`, { token });
      });
    },
  },

  S5: {
    title: '80 pages of runs, read by 1 KB every 12 s',
    prepare: (attacker) => recordLoudRuns(attacker, 'loud'),
    async run(attacker) {
      const bytes = attacker.rawGet(runsPath(attacker, 'loud'), attacker.position.environmentToken);
      const { environmentToken: token } = attacker.position;
      const unread = attacker.keepConnections(80, () => [bytes], {
        onOpen(socket) {
          const timer = setInterval(() => socket.read(1024), 12_000);
          socket.once('close', () => clearInterval(timer));
        },
      });
      const more = attacker.repeat(1000, async () => {
        const { status, body } = await attacker.send('GET', runsPath(attacker, 'loud'), { token });
        if (status !== 200) return;
        // With all runs, of which there are fewer than a page may have, it would have 2 MB.
        if (body.length > 2 ** 19) attacker.count('long page');
        else if (body.includes('"next":')) attacker.count('page ended by its bytes');
      });
      await Promise.all([unread, more]);
    },
  },

  S6: {
    title: '600 deploys of one unchanged plugin at once',
    engine: 'postgres',
    async prepare(attacker) {
      const token = await attacker.editorToken('deployed');
      await attacker.deploy('deployed', token, 'export const run = (input) => input;\n');
    },
    async run(attacker) {
      const token = await attacker.editorToken('deployed');
      const path = `/api/v1/draft/${attacker.plugin('deployed')}/promote`;
      await attacker.repeat(1000, () =>
        Promise.all(Array.from({ length: 600 }, () => attacker.send('POST', path, { token }))),
      );
    },
  },

  S7: {
    title: 'versions of control characters without end',
    async run(attacker) {
      const token = await attacker.editorToken('stored');
      await attacker.repeat(0, (turn) => {
        const text = `const text = \`${turn}${controlCharacters}\`;\nexport const run = () => text;\n`;
        return attacker.deploy('stored', token, text);
      });
    },
  },

  S8: {
    title: '2,000 requests that are never sent whole',
    run: (attacker) => attacker.keepConnections(2000, () => ['GET / HTTP/1.1\r\nHost:'], readAll),
  },

  S9: {
    title: '20 × 1,500 refused requests, and 550 × /openapi.json, in one packet each',
    async run(attacker) {
      const refused = attacker.rawGet('/x').repeat(1500);
      const documents = attacker.rawGet('/openapi.json').repeat(550);
      await Promise.all([
        attacker.keepConnections(20, () => [refused], { onOpen: (socket) => socket.resume() }),
        attacker.keepConnections(1, () => [documents]),
      ]);
    },
  },
};

/** So many bytes of JSON without a meaning. */
function* plainBytes(count: number): Iterable<Buffer> {
  const part = Buffer.alloc(64 * 1024, 'x');
  for (let sent = 0; sent < count; sent += part.length) yield part;
}

const readAll = { onOpen: (socket: Socket) => void socket.resume() };

/** The address of the largest file of the editor that its page names. */
async function largestAsset(attacker: Attacker): Promise<string> {
  const { body } = await attacker.send('GET', '/editor/');
  const paths = [...body.matchAll(/assets\/[\w.-]+\.js/g)].map(([path]) => `/editor/${path}`);
  const sizes = await Promise.all(paths.map(async (path) => (await attacker.send('GET', path)).body.length));
  return paths[sizes.indexOf(Math.max(...sizes))] ?? '/editor/';
}

/** Further attacks of the same kinds, which were never enough to stop the service, or not yet tried when the others were. */
export const variations: Readonly<Record<string, Attack>> = {
  lingering: {
    title: '100 reads of a large draft with a body that never comes, unread',
    async prepare(attacker) {
      const token = await attacker.editorToken('large');
      const path = `/api/v1/build/javascript/${attacker.plugin('large')}`;
      // 6 MB as JSON, which is more than a system takes for a connection.
      await attacker.send('POST', path, { token, body: '\u0001'.repeat(1_000_000) });
    },
    async run(attacker) {
      const token = await attacker.editorToken('large');
      const path = `/api/v1/draft/${attacker.plugin('large')}`;
      const bytes = attacker.rawHead('GET', path, token, 100_000);
      await Promise.all([
        attacker.keepConnections(100, () => [bytes]),
        attacker.repeat(100, () => attacker.send('GET', path, { token })),
      ]);
    },
  },

  agents: {
    title: 'tools of agents that read a large draft, 100 at once, unread, and 100 in one message',
    async prepare(attacker) {
      const token = await attacker.editorToken('large');
      const path = `/api/v1/build/javascript/${attacker.plugin('large')}`;
      // Nearly as much as a result may have.
      await attacker.send('POST', path, { token, body: '\u0001'.repeat(300_000) });
    },
    async run(attacker) {
      const token = await attacker.editorToken('large');
      const call = (id: number) => ({
        jsonrpc: '2.0',
        id,
        method: 'tools/call',
        params: { name: 'read_plugin', arguments: {} },
      });
      const accept = 'application/json, text/event-stream';
      const one = JSON.stringify(call(1));
      const many = JSON.stringify(Array.from({ length: 100 }, (_, i) => call(i)));
      const post = (body: string) => attacker.rawHead('POST', '/mcp', token, body.length, accept) + body;
      const progress = `/api/v1/progress/${attacker.plugin('large')}`;
      await Promise.all([
        attacker.keepConnections(100, () => [post(one).repeat(10)]),
        attacker.keepConnections(5, () => [post(many).repeat(10)]),
        // Little and often, to meet the token's limit while it is reached.
        attacker.repeat(20, () => attacker.send('GET', progress, { token })),
      ]);
    },
  },

  hoarders: {
    title: 'as many requests as are taken of three tenants, whose bodies never come whole',
    async run(attacker) {
      const hoard = async (tenant: string) => {
        const token = await attacker.editorToken('hoard', tenant);
        const path = `/api/v1/draft/${attacker.plugin('hoard', tenant)}`;
        const chunked = attacker.rawChunkedPost(path, token);
        const small = attacker.rawHead('POST', path, token, 100);
        await Promise.all([
          attacker.keepConnections(34, () => [chunked]),
          attacker.keepConnections(250, () => [small]),
          attacker.repeat(500, () => attacker.save('hoard', token, '{}', tenant)),
        ]);
      };
      await Promise.all(['t1', 't2', 't3'].map(hoard));
    },
  },

  bodies: {
    title: '100 bodies of 60 MB without a token',
    run(attacker) {
      const head = `POST /api/v1/draft/${attacker.plugin('x')} HTTP/1.1\r\nHost: 127.0.0.1:${attacker.position.port}\r\n`;
      function* body() {
        yield `${head}Content-Type: application/json\r\nContent-Length: 60000000\r\n\r\n`;
        yield* plainBytes(60_000_000);
      }
      return attacker.keepConnections(100, body, readAll);
    },
  },

  heads: {
    title: '50 connections with requests that count for no rate: HEAD, OPTIONS, /healthz',
    async run(attacker) {
      const asset = await largestAsset(attacker);
      const host = `HTTP/1.1\r\nHost: 127.0.0.1:${attacker.position.port}\r\n\r\n`;
      const requests = ['HEAD ' + asset, 'OPTIONS /api/v1/features', 'GET /healthz', 'GET /readyz'];
      const bytes = requests
        .map((request) => `${request} ${host}`)
        .join('')
        .repeat(1000);
      await attacker.keepConnections(50, () => Array.from({ length: 100 }, () => bytes), readAll);
    },
  },

  assets: {
    title: "50 connections that read the editor's largest file again and again",
    async run(attacker) {
      const bytes = attacker.rawGet(await largestAsset(attacker)).repeat(1000);
      await attacker.keepConnections(50, () => [bytes], readAll);
    },
  },

  ahead: {
    title: '500 connections with a slow run and 2,000 requests behind it',
    async prepare(attacker) {
      const token = await attacker.editorToken('slow');
      await attacker.deploy('slow', token, 'export function run() { for (;;); }\n');
    },
    async run(attacker) {
      const { port, environmentToken } = attacker.position;
      const slow =
        `POST /exec/name/${attacker.plugin('slow')} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\n` +
        `Authorization: Bearer ${environmentToken}\r\nContent-Length: 0\r\n\r\n`;
      const behind = 'GET /x HTTP/1.1\r\nHost:a\r\n\r\n'.repeat(2000);
      await attacker.keepConnections(500, () => [slow + behind], readAll);
    },
  },

  saves: {
    title: 'large drafts saved by ten tokens as fast as they are answered',
    async run(attacker) {
      const drafts = Array.from({ length: 4 }, (_, i) => largeDraft(i));
      const save = async (i: number) => {
        const name = `draft-${i}`;
        const token = await attacker.editorToken(name);
        await attacker.repeat(0, (turn) => attacker.save(name, token, drafts[turn % 4] ?? ''));
      };
      await Promise.all(Array.from({ length: 10 }, (_, i) => save(i)));
    },
  },

  streams: {
    title: '64 streams of builds that say much, unread',
    async run(attacker) {
      const source = Array.from({ length: 3000 }, (_, i) => `const v${i}: string = ${i};`).join('\n');
      const token = await attacker.editorToken('streamed');
      const bytes =
        `POST /api/v1/build/typescript/${attacker.plugin('streamed')} HTTP/1.1\r\n` +
        `Host: 127.0.0.1:${attacker.position.port}\r\nAuthorization: Bearer ${token}\r\n` +
        `Accept: text/event-stream\r\nContent-Type: text/plain\r\nContent-Length: ${source.length}\r\n\r\n${source}`;
      await attacker.keepConnections(64, () => [bytes]);
    },
  },

  tokens: {
    title: 'sessions, tenants and tokens made as fast as they are answered',
    async run(attacker) {
      const { environment, environmentToken: token } = attacker.position;
      const make = (i: number) =>
        attacker.repeat(0, async (turn) => {
          const tenant = `${environment}.made-${i}-${turn}`;
          await attacker.send('POST', `/api/v1/tenant/${tenant}`, {
            token,
            body: '{}',
            type: 'application/json',
          });
          await attacker.send('POST', `/api/v1/tenant/${tenant}/session`, {
            token,
            body: '{}',
            type: 'application/json',
          });
          await attacker.send('GET', `/auth/v2/access/${tenant}/default/p${turn}`, { token });
        });
      await Promise.all(Array.from({ length: 20 }, (_, i) => make(i)));
    },
  },

  guesses: {
    title: 'unknown tokens on 100 connections',
    async run(attacker) {
      const bytes = Array.from({ length: 2000 }, (_, i) =>
        attacker.rawGet(`/api/v1/draft/${attacker.plugin('x')}`, `guess-${i}`),
      ).join('');
      await attacker.keepConnections(100, () => [bytes], readAll);
    },
  },

  help: {
    title: 'language help and checks of large sources by ten tokens',
    async run(attacker) {
      const source = Array.from(
        { length: 3000 },
        (_, i) => `const v${i} = [${i}].map((x) => x + ${i});`,
      ).join('\n');
      const ask = async (i: number) => {
        const name = `helped-${i}`;
        const token = await attacker.editorToken(name);
        const request = { method: 'textDocument/completion', position: { line: 10, character: 10 } };
        const body = JSON.stringify({ contents: source, request });
        await attacker.repeat(0, async () => {
          const path = `typescript/${attacker.plugin(name)}`;
          await attacker.send('POST', `/api/v1/check/${path}`, { token, body: source });
          await attacker.send('POST', `/api/v1/language-help/${path}`, {
            token,
            body,
            type: 'application/json',
          });
        });
      };
      await Promise.all(Array.from({ length: 10 }, (_, i) => ask(i)));
    },
  },

  odd: {
    title: 'upgrades, HTTP/1.0, large heads, trailers and deep JSON',
    async run(attacker) {
      const host = `Host: 127.0.0.1:${attacker.position.port}\r\n`;
      const token = await attacker.editorToken('odd');
      const deep = `${'['.repeat(400_000)}${']'.repeat(400_000)}`;
      const path = `/api/v1/draft/${attacker.plugin('odd')}`;
      const trailers = `${attacker.rawChunkedPost(path, token)}1\r\nx\r\n0\r\n${'X-A: b\r\n'.repeat(1500)}\r\n`;
      const requests = [
        `GET / HTTP/1.1\r\n${host}Connection: Upgrade\r\nUpgrade: websocket\r\n\r\n`.repeat(200),
        'GET / HTTP/1.0\r\n\r\n'.repeat(200),
        `GET / HTTP/1.1\r\n${host}${Array.from({ length: 700 }, (_, i) => `X-${i}: ${'a'.repeat(10)}\r\n`).join('')}\r\n`,
        trailers,
        `POST ${path} HTTP/1.1\r\n${host}Authorization: Bearer ${token}\r\nExpect: 100-continue\r\nContent-Type: application/json\r\nContent-Length: ${deep.length}\r\n\r\n${deep}`,
        `PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n`,
      ];
      await Promise.all(requests.map((bytes) => attacker.keepConnections(10, () => [bytes], readAll)));
    },
  },
};
