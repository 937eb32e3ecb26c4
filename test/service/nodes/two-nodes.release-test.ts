import assert from 'node:assert/strict';
import { test } from 'node:test';
import { accessPath } from '../harness.ts';
import { ServiceProcess } from '../service-process.ts';
import { provisionEnvironmentToken } from '../../../service/src/accounts/environment-token.ts';
import { engines, databaseWithSchema, openDuring } from '../storage/databases.ts';
import type { Cleanup, EngineName } from '../storage/databases.ts';
import { until } from '../../support/until.ts';

const RACERS = 20;
const textOf = (output: string) => `export const run = () => "${output}";`;

/** Two processes on one database. */
async function startTwoNodes(t: Cleanup, engine: EngineName) {
  const address = await databaseWithSchema(t, engine);
  const first = await ServiceProcess.start(t, address);
  const second = await ServiceProcess.start(t, address, first.environmentToken);
  return { address, nodes: [first, second] as const };
}

const race = <T>(work: (i: number) => Promise<T>): Promise<T[]> =>
  Promise.all(Array.from({ length: RACERS }, (_, i) => work(i)));

for (const engine of engines) {
  test(`two nodes on ${engine}`, async (t) => {
    // All tests but the last share one pair of processes; each has a plugin of its own.
    const { address, nodes: shared } = await startTwoNodes(t, engine);
    const twoNodes = async (pluginName: string) => {
      const [first, second] = shared;
      const nodes = [first.withPlugin(pluginName), second.withPlugin(pluginName)] as const;
      return { nodes, nodeOf: (i: number) => nodes[i % 2 ? 1 : 0], token: await nodes[0].editorToken() };
    };

    await t.test('a token and a draft of one node are valid on the other at once', async () => {
      const { nodes, token } = await twoNodes('token-and-draft');
      const [first, second] = nodes;
      for (let i = 0; i < 5; i++) {
        const saved = await first.save(token, { contents: `// ${i}` });
        const read = await second.read(token);
        assert.deepEqual([saved.status, read.status], [200, 200]);
        assert.equal(read.headers.get('etag'), saved.headers.get('etag'));
        assert.equal(((await read.json()) as { contents: string }).contents, `// ${i}`);
        assert.equal((await second.read(await second.editorToken())).status, 200);
      }
    });

    await t.test('of twenty simultaneous saves of one draft on two nodes, one wins', async () => {
      const { nodes, nodeOf, token } = await twoNodes('saves');
      let condition: Record<string, string> = { 'if-none-match': '*' };
      for (let round = 0; round < 4; round++) {
        const responses = await race((i) =>
          nodeOf(i).save(token, { contents: `// ${round} ${i}` }, condition),
        );
        const won = responses.filter(({ status }) => status === 200);
        assert.equal(won.length, 1);
        assert.equal(responses.filter(({ status }) => status === 412).length, RACERS - 1);
        const etag = won[0]?.headers.get('etag') ?? '';
        for (const node of nodes) assert.equal((await node.read(token)).headers.get('etag'), etag);
        condition = { 'if-match': etag };
      }
    });

    await t.test('of twenty simultaneous equal deployments on two nodes, one makes a version', async () => {
      const { nodes, nodeOf, token } = await twoNodes('equal-deployments');
      await nodes[0].build(token, textOf('one'));
      const deployments = await race((i) => nodeOf(i).deploy(token));
      assert.deepEqual(new Set(deployments.map(({ version }) => version)), new Set(['v1.0.0']));
      assert.equal(deployments.filter(({ unchanged }) => !unchanged).length, 1);
      for (const node of nodes) assert.equal((await node.run('v1.0.1')).status, 404);
    });

    await t.test(
      'twenty simultaneous deployments of a changing draft on two nodes make twenty versions without a gap',
      async () => {
        const { nodes, nodeOf, token } = await twoNodes('changing-draft');
        await nodes[0].build(token, textOf('one'));
        const versions = await race(async (i) => {
          // What this one has saved may be deployed by another, who then has made its version: then it changes the draft again.
          for (let attempt = 0; ; attempt++) {
            // Tests are part of what is deployed, and need no other build.
            const tests = [{ name: `${i} ${attempt}` }];
            const saved = await nodeOf(i).save(token, { contents: textOf('one'), tests });
            assert.equal(saved.status, 200);
            const { version, unchanged } = await nodeOf(i + 1).deploy(token);
            if (!unchanged) return version;
          }
        });
        const numbers = versions
          .map((version) => Number(version.slice('v1.0.'.length)))
          .toSorted((a, b) => a - b);
        assert.deepEqual(
          numbers,
          Array.from({ length: RACERS }, (_, i) => i),
        );
        for (const node of nodes) {
          for (const number of numbers) assert.equal((await node.run(`v1.0.${number}`)).status, 200);
          assert.equal((await node.run(`v1.0.${RACERS}`)).status, 404);
        }
      },
    );

    await t.test('a version that one node deployed runs by name on the other', async () => {
      const { nodes, nodeOf, token } = await twoNodes('by-name');
      for (const i of [0, 1, 2, 3]) {
        const [deploying, running] = [nodeOf(i), nodeOf(i + 1)];
        await deploying.build(token, textOf(String(i)));
        await deploying.deploy(token);
        assert.equal(
          await (await deploying.run()).text(),
          String(i),
          'the node that deployed knows it at once',
        );
        await until(
          'the other node runs what was deployed',
          async () => (await (await running.run()).text()) === String(i),
        );
      }
      for (const node of nodes) assert.equal(await (await node.run('v1.0.1')).text(), '1');
    });

    // The last of those that share the nodes, because it ends their token.
    await t.test('a new environment token ends the previous one on every node', async (one) => {
      const { nodes, token } = await twoNodes('tokens');
      await nodes[0].build(token, textOf('one'));
      await nodes[0].deploy(token);
      for (const node of nodes) assert.equal((await node.run('v1.0.0')).status, 200);
      // As a third node does.
      const newToken = await provisionEnvironmentToken(await openDuring(one, address), 'com.acme');
      for (const node of nodes) {
        assert.equal((await node.request('GET', accessPath, node.environmentToken)).status, 401);
        assert.equal((await node.run('v1.0.0', newToken)).status, 200);
        await until('the old token runs nothing', async () => (await node.run('v1.0.0')).status === 401);
      }
    });

    await t.test(
      'a node that is killed during writes loses only those that it had not acknowledged',
      async (one) => {
        const { address: own, nodes } = await startTwoNodes(one, engine);
        const [first, second] = nodes;
        const token = await first.editorToken();
        await first.save(token, { contents: '// 0' });
        const cut = race((i) =>
          second.save(token, { contents: `// cut ${i}` }).then(
            ({ status }) => status,
            () => 'broken',
          ),
        );
        await second.kill();
        for (const status of await cut) assert.ok(status === 200 || status === 'broken', String(status));
        // What the database had been sent by the node that is gone may still be written, before or between these.
        const etags = new Set<string>();
        for (let i = 0; i < 5; i++) {
          const saved = await first.save(token, { contents: `// ${i}` });
          assert.equal(saved.status, 200);
          etags.add(saved.headers.get('etag') ?? '');
        }
        assert.equal(etags.size, 5);
        const again = await ServiceProcess.start(one, own, first.environmentToken);
        const { contents } = (await (await again.read(token)).json()) as { contents: string };
        assert.match(contents, /^\/\/ (?:4|cut \d+)$/);
      },
    );
  });
}
