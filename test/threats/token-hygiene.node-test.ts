import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { openDemo } from '../demo/page-driver.ts';
import { fetchAll } from './crawl.ts';
import { packPackage } from './packed.ts';
import type { Secret } from './secrets.ts';
import { useEverything } from './token-loop.ts';
import { plantEverywhere } from './token-plants.ts';
import { startWorld } from './token-world.ts';
import type { World } from './token-world.ts';

/** Where each kind of secret has its business. */
const ISSUED = ['answer of the access interface', 'answer of the token endpoint'];
const BY_MESSAGE = [...ISSUED, 'authorization at the builder'];
/** By address a token is in the frame's, and in what the browser itself makes of that; docs/security/tokens.md says so. */
const BY_URL = [
  ...BY_MESSAGE,
  'address of the editor',
  'address that opened a tab',
  'frame address',
  'policy violation',
  'timing',
];

describe('tokens, session cookies and codes, from signing in to running a plugin', () => {
  const planted: Secret = { kind: 'planted', text: randomBytes(32).toString('base64url') };
  let world: World;
  let byUrl: Secret[];
  let byMessage: Secret[];
  const of = (all: Secret[], kind: string) => all.filter((one) => one.kind === kind);
  const placesOf = (all: Secret[]) => [...new Set(all.flatMap((one) => world.places.of(one)))].toSorted();

  before(async () => {
    const packing = packPackage();
    world = await startWorld(planted.text);
    await world.makeOwnerToken();
    await useEverything(world, 'url', 'ada');
    byUrl = of(world.secrets(), 'editor token');
    await useEverything(world, 'message', 'cleo');
    byMessage = of(world.secrets(), 'editor token').slice(byUrl.length);
    await fetchAll(world.demo);
    world.lookAround();
    const packed = await packing;
    world.places.add('packed files', packed.bytes);
    writeFileSync(join(packed.folder, 'dist', 'planted.js'), planted.text);
    world.places.add('packed files with one more', await packed.packAnew());
    await packed.remove();
  });
  after(() => world?.close());

  test('are all made, and seen where they belong', () => {
    const kinds = new Set(world.secrets().map(({ kind }) => kind));
    assert.deepEqual([...kinds].toSorted(), [
      'code',
      'cookie key',
      'editor token',
      'environment token',
      'session',
    ]);
    const [minted, answered] = ISSUED as [string, string];
    for (const tokens of [byUrl, byMessage]) {
      const places = tokens.map((one) => world.places.of(one));
      assert.ok(places.every((some) => some.includes(minted)));
      // Launched, renewed, renewed because it was refused, launched again; a request that was given up has no response.
      const issued = places.filter((some) => some.includes(answered));
      assert.ok(issued.length >= 4, `${issued.length} tokens of ${tokens.length}`);
    }
  });

  test('include an environment token, which is in no byte that a browser can reach', () => {
    const [demos, owners, ...others] = of(world.secrets(), 'environment token');
    assert.ok(demos && owners && !others.length);
    assert.deepEqual(world.places.of(demos), ['authorization by the vendor']);
    assert.deepEqual(world.places.of(owners), ["the command's standard output"]);
  });

  test('include an editor token delivered by message, which is in no address and nowhere in the page', () => {
    assert.deepEqual(placesOf(byMessage), BY_MESSAGE.toSorted());
  });

  test('include an editor token delivered by address, which is where the contract says, and nowhere else', () => {
    assert.deepEqual(placesOf(byUrl), BY_URL.toSorted());
  });

  test('include a session cookie, its signing key and a verification code, which stay where they belong', () => {
    assert.deepEqual(placesOf(of(world.secrets(), 'session')), ['cookies to the vendor', 'set-cookie']);
    assert.deepEqual(placesOf(of(world.secrets(), 'cookie key')), ['database']);
    assert.deepEqual(placesOf(of(world.secrets(), 'code')), ['outbox']);
  });

  test('are found by the search when a token is planted in any place', async () => {
    const tab = await openDemo(world.browser, world.demo.vendor);
    const { page } = tab;
    await world.watch(page);
    await page.reload();
    await tab.signIn('ada');
    await tab.chooseDelivery('message');
    await tab.choosePlugin('add-record');
    await tab.launch();
    await plantEverywhere(world, page, planted.text);
    await world.look(page);
    world.lookAround();
    const legitimate = [
      ...ISSUED,
      'set-cookie',
      'address that opened a tab',
      "the command's standard output",
    ];
    // The packed files are clean; what was packed with one file more is not.
    assert.deepEqual(
      world.places.of(planted),
      world.places.seen.filter((place) => ![...legitimate, 'packed files'].includes(place)),
    );
  });
});
