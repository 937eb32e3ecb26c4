import { execFile } from 'node:child_process';
import { execPath } from 'node:process';
import { promisify } from 'node:util';

/** The table of the service's error codes, as Markdown. */
export async function errorCodeTable(): Promise<string> {
  const codes = await readErrorCodes();
  const rows = Object.entries(codes).flatMap(([code, meanings]) =>
    Object.entries(meanings).map(([status, meaning]) => `| \`${code}\` | ${status} | ${meaning} |`),
  );
  return ['| code | status | meaning |', '| --- | --- | --- |', ...rows].join('\n');
}

/** What the service's table holds: meanings by code and status. It is run, because the tools import no other room. */
async function readErrorCodes(): Promise<Record<string, Record<string, string>>> {
  const print = `import('./service/src/http/error-codes.ts').then(({ errorCodes }) => console.log(JSON.stringify(errorCodes)))`;
  const { stdout } = await promisify(execFile)(execPath, ['--eval', print]);
  return JSON.parse(stdout) as Record<string, Record<string, string>>;
}
