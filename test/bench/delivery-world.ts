import { X509Certificate, createHash } from 'node:crypto';
import { Worker } from 'node:worker_threads';
import { testPackages } from '../packages/packages.ts';
import { bundle } from './bundle.ts';
import type { Addresses, OriginsData } from './delivery-origins.ts';
import type { Report } from './delivery-page.ts';

/** How long one run may take, in ms. */
const LIMIT = 60_000;

/** What is used of `selfsigned` 5, which is installed when it is first used. */
interface SelfSigned {
  generate: (
    subject: { name: string; value: string }[],
    options: object,
  ) => Promise<{ private: string; cert: string }>;
}

/** Both origins at one distance. */
export interface World extends Addresses {
  roundTrip: number;
  /** What the page of the run `id` reports. */
  report(id: string): Promise<Report>;
  close(): Promise<unknown>;
}

/** The worlds, one for each round trip, the token they know, and what makes Chromium trust their certificate. */
export async function startWorlds(
  roundTrips: number[],
): Promise<{ worlds: World[]; trust: string; token: string }> {
  const tools = await testPackages();
  const { generate } = tools('selfsigned') as SelfSigned;
  const { private: key, cert } = await generate([{ name: 'commonName', value: 'localhost' }], {
    keyType: 'ec',
    algorithm: 'sha256',
    extensions: [
      {
        name: 'subjectAltName',
        altNames: [
          { type: 2, value: 'localhost' },
          { type: 7, ip: '127.0.0.1' },
        ],
      },
    ],
  });
  const [pageScript = '', greetingScript = '', editorScript = ''] = await Promise.all(
    ['page', 'greeting', 'editor'].map((part) => bundle(`test/bench/delivery-${part}.ts`)),
  );
  const token = makeToken();
  const data = { key, cert, token, pageScript, greetingScript, editorScript };
  const worlds = await Promise.all(roundTrips.map((roundTrip) => startWorld({ ...data, roundTrip })));
  const publicKey = new X509Certificate(cert).publicKey.export({ type: 'spki', format: 'der' });
  const hash = createHash('sha256').update(publicKey).digest('base64');
  return { worlds, trust: `--ignore-certificate-errors-spki-list=${hash}`, token };
}

/** A text in the shape of a JWT that ends in an hour, because the Superset SDK reads its end. */
function makeToken(): string {
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
  const iat = Math.floor(Date.now() / 1000);
  return `${part({ alg: 'HS256', typ: 'JWT' })}.${part({ iat, exp: iat + 3600 })}.${part({ bench: true })}`;
}

async function startWorld(data: OriginsData): Promise<World> {
  const worker = new Worker(new URL('delivery-origins.ts', import.meta.url), { workerData: data });
  const addresses = await new Promise<Addresses>((resolve, reject) => {
    worker.once('message', resolve);
    worker.once('error', reject);
  });
  return {
    ...addresses,
    roundTrip: data.roundTrip,
    report: (id) =>
      new Promise((resolve, reject) => {
        const hear = (report: Report) => {
          if (report.id === id) end(() => (report.error ? reject(new Error(report.error)) : resolve(report)));
        };
        const limit = setTimeout(() => end(() => reject(new Error(`No report of ${id}`))), LIMIT);
        const end = (act: () => void) => {
          clearTimeout(limit);
          worker.off('message', hear);
          act();
        };
        worker.on('message', hear);
      }),
    close: () => worker.terminate(),
  };
}
