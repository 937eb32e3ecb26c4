import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect } from 'node:tls';
import { promisify } from 'node:util';
import { until } from '../support/until.ts';

const deploy = join(import.meta.dirname, '../../deploy');

const accessLog = 'access.log';

export type ProxyName = 'nginx' | 'caddy';

export interface Proxy extends AsyncDisposable {
  /** With `https`. */
  readonly origin: string;
  /** The certificate to trust. */
  readonly ca: string;
  /** What it has printed and logged. */
  output(): string;
}

/**
 * Starts a proxy with the configuration that is published under `deploy/`, but for names, ports, certificates and the nodes'
 * addresses; on one port of the loopback address.
 */
export async function startProxy(
  name: ProxyName,
  port: number,
  nodes: readonly [string, string],
): Promise<Proxy> {
  const directory = await mkdtemp(join(tmpdir(), `deploy-${name}-`));
  const ca = await makeCertificate(directory);
  const { env, args } = await write[name](directory, port, nodes);
  const child = spawn(name, args, {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, ...env },
  });
  const accesses = join(directory, accessLog);
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => (output += text));
  let hasEnded = false;
  const ended = once(child, 'exit').then(() => (hasEnded = true));
  await until(`a start of ${name}`, () => hasEnded || acceptsTls(port, ca));
  if (hasEnded) throw new Error(`${name} did not start: ${output}`);
  return {
    origin: `https://localhost:${port}`,
    ca,
    output: () => output + (existsSync(accesses) ? readFileSync(accesses, 'utf8') : ''),
    async [Symbol.asyncDispose]() {
      // nginx ends its workers at SIGTERM, at once; Caddy would wait for requests in progress.
      child.kill(name === 'nginx' ? 'SIGTERM' : 'SIGKILL');
      await ended;
      await rm(directory, { recursive: true, force: true, maxRetries: 3 });
    },
  };
}

/** How a proxy is started with the files that were written for it. */
interface Written {
  readonly env: Readonly<Record<string, string>>;
  readonly args: readonly string[];
}

const write: Record<
  ProxyName,
  (directory: string, port: number, nodes: readonly [string, string]) => Promise<Written>
> = {
  async nginx(directory, port, nodes) {
    const site = adapt(await readFile(join(deploy, 'nginx/plugin-editor-service.conf'), 'utf8'), [
      // The redirect's server, which is not tried: its port may be taken.
      [/^server \{\n {4}listen 80;.*?^\}\n/ms, ''],
      [/^.*listen \[::\]:443.*\n/m, ''],
      [/listen 443/, `listen 127.0.0.1:${port}`],
      [/server_name plugins\.example\.com;/, 'server_name localhost;'],
      [/127\.0\.0\.1:8082/g, nodes[0]],
      [/127\.0\.0\.1:8083/g, nodes[1]],
      [/\/etc\/nginx\/plugins\.example\.com/g, join(directory, 'localhost')],
      [/\/var\/log\/nginx\/access\.log/g, join(directory, accessLog)],
    ]);
    const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
      .map((kind) => `${kind}_temp_path ${join(directory, kind)};`)
      .join('\n');
    const main = join(directory, 'nginx.conf');
    await writeFile(join(directory, 'site.conf'), site);
    await writeFile(
      main,
      `${process.getuid?.() === 0 ? 'user root;' : ''}
daemon off; worker_processes 2; error_log stderr; pid ${join(directory, 'pid')};
events { worker_connections 1024; }
http { access_log off; ${temporary} include ${join(directory, 'site.conf')}; }\n`,
    );
    return { env: {}, args: ['-p', directory, '-c', main, '-e', 'stderr'] };
  },

  async caddy(directory, port, nodes) {
    const certificate = ['crt', 'key'].map((end) => join(directory, `localhost.${end}`)).join(' ');
    const text = adapt(await readFile(join(deploy, 'caddy/Caddyfile'), 'utf8'), [
      [/^\{\n/m, '{\n\tadmin off\n\tauto_https disable_redirects\n'],
      [/^\{\$PUBLIC_NAME\} \{\n/m, `{$PUBLIC_NAME} {\n\tbind 127.0.0.1\n\ttls ${certificate}\n`],
    ]);
    const main = join(directory, 'Caddyfile');
    await writeFile(main, text);
    const env = {
      PUBLIC_NAME: `https://localhost:${port}`,
      NODES: nodes.join(' '),
      HOME: directory,
      XDG_DATA_HOME: directory,
      XDG_CONFIG_HOME: directory,
    };
    return { env, args: ['run', '--adapter', 'caddyfile', '--config', main] };
  },
};

/** Every one of these must be found, so that a change of the file is not tried without it. */
function adapt(text: string, changes: readonly (readonly [RegExp, string])[]): string {
  return changes.reduce((changed, [pattern, replacement]) => {
    if (changed.search(pattern) < 0) throw new Error(`The configuration has no ${String(pattern)} any more.`);
    return changed.replace(pattern, () => replacement);
  }, text);
}

/** A certificate for localhost, which trusts itself; its text. */
async function makeCertificate(directory: string): Promise<string> {
  const [crt, key] = [join(directory, 'localhost.crt'), join(directory, 'localhost.key')];
  const subject = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost'];
  const kind = ['-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '2'];
  await promisify(execFile)('openssl', ['req', ...kind, ...subject, '-keyout', key, '-out', crt]);
  return readFile(crt, 'utf8');
}

function acceptsTls(port: number, ca: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host: '127.0.0.1', port, ca, servername: 'localhost' }, () => {
      socket.destroy();
      resolve(true);
    });
    socket.on('error', () => resolve(false));
  });
}
