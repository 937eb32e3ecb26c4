import type { AddressInfo } from 'node:net';
import { sql } from 'kysely';
import { createService } from '../../service/src/http/app.ts';
import { createHttpServer } from '../../service/src/http/http-server.ts';
import { parseDatabaseUrl } from '../../service/src/storage/database-url.ts';
import { migrate } from '../../service/src/storage/migrations/migrate.ts';
import { migrations } from '../../service/src/storage/migrations/migrations.ts';
import type { Migration } from '../../service/src/storage/migrations/migrations.ts';
import { openEngine, openStorage } from '../../service/src/storage/storage.ts';

/*
 * A node of the service in a process of its own, of this release or of the one after it: `<database> <port> <host> <release>`.
 * `host` is the `Host` that users reach it by. It prints its port, and ends in good order at SIGTERM.
 */
const [url = '', givenPort = '0', host = '', release = 'this'] = process.argv.slice(2);
const address = parseDatabaseUrl(url);

/** What the next release may do to the schema: only what a program of this release can leave alone. */
const next: Migration = {
  name: '9999-next-release',
  oldestProgram: migrations.at(-1)?.oldestProgram ?? 1,
  async up(db) {
    await sql`alter table drafts add column reviewed_at bigint`.execute(db);
    await sql`alter table versions add column note text not null default ''`.execute(db);
    await sql`create table reviews (id integer primary key, note text not null)`.execute(db);
    await sql`create index drafts_by_review on drafts (reviewed_at)`.execute(db);
  },
};

if (release === 'next') {
  const engine = await openEngine(address);
  await migrate(engine, [...migrations, next]);
  await engine.close();
}

const storage = await openStorage(address);
const hosts = [host];
const service = createService({ storage, editorAssets: new Map(), hosts });
let isEnding = false;
const server = createHttpServer({
  ...service,
  fetch: async (request, env) => {
    const answer = health(request) ?? (await service.fetch(request, env));
    // Clients that go on asking on the connections that they have would keep it from ending.
    if (isEnding) answer.headers.set('connection', 'close');
    return answer;
  },
});
server.listen(Number(givenPort), '127.0.0.1', () => {
  const { port } = server.address() as AddressInfo;
  hosts.push(`127.0.0.1:${port}`);
  console.log(port);
});

process.on('SIGTERM', () => {
  isEnding = true;
  server.close(() => void service.close().then(() => storage.close()));
});

function health(request: Request): Response | undefined {
  const { pathname } = new URL(request.url);
  if (pathname === '/healthz') return new Response();
  return pathname === '/readyz' ? new Response(null, { status: isEnding ? 503 : 200 }) : undefined;
}
