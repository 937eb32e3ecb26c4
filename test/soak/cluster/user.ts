import type { Connection, Sent } from '../../support/connection.ts';
import { program } from '../programs.ts';
import type { Written } from '../programs.ts';
import type { Tally } from '../tally.ts';
import { sendUntilAnswered } from './attempts.ts';
import type { RetriedResponse } from './attempts.ts';

/** How long after a deploy another node may run the version before by the plugin's name, in ms. */
const newestKnownWithin = 1000;

/**
 * One user with one plugin, who tries everything again until it is answered, and holds each response against what was
 * acknowledged before, on whichever node.
 */
export class ClusterUser {
  readonly path: string;
  readonly #tally: Tally;
  readonly #connection: Connection;
  readonly #environmentToken: string;
  #token = '';
  #count = 0;
  /** What the draft may hold: what was acknowledged last, and what was sent since without a response. */
  #drafts = new Set<string>();
  #built: Written | undefined;
  readonly #versions: Written[] = [];
  #deployedAt = -Infinity;

  constructor(path: string, connection: Connection, environmentToken: string, tally: Tally) {
    this.path = path;
    this.#connection = connection;
    this.#environmentToken = environmentToken;
    this.#tally = tally;
  }

  async signIn(): Promise<void> {
    const target = `/auth/v2/access/${this.path}`;
    const response = await this.#ask('sign in', 'GET', target, { token: this.#environmentToken });
    if (response) this.#token = (JSON.parse(response.body) as { token: string }).token;
  }

  async save(): Promise<void> {
    const { lang, contents } = this.#write();
    this.#drafts.add(contents);
    const response = await this.#ask('save', 'POST', `/api/v1/draft/${this.path}`, {
      token: this.#token,
      type: 'application/json',
      body: JSON.stringify({ lang, contents }),
    });
    if (response) this.#drafts = new Set([contents]);
  }

  async read(): Promise<void> {
    const response = await this.#ask('read', 'GET', `/api/v1/draft/${this.path}`, { token: this.#token });
    if (!response) return;
    const { contents } = JSON.parse(response.body) as { contents: string };
    if (!this.#drafts.has(contents)) {
      this.#tally.fault(`${this.path}: the draft is neither what was acknowledged nor what was sent`);
    }
    this.#drafts = new Set([contents]);
  }

  async build(): Promise<void> {
    const written = this.#write();
    this.#built = undefined;
    this.#drafts.add(written.contents);
    const response = await this.#ask('build', 'POST', `/api/v1/build/${written.lang}/${this.path}`, {
      token: this.#token,
      body: written.contents,
    });
    if (!response) return;
    this.#drafts = new Set([written.contents]);
    if ((JSON.parse(response.body) as { succeeded: boolean }).succeeded) this.#built = written;
    else this.#tally.fault(`${this.path}: a build answered ${response.body.slice(0, 400)}`);
  }

  /** Deploys what was built last, which nothing was saved after. */
  async deploy(): Promise<void> {
    const built = this.#built;
    if (!built) return;
    const response = await this.#ask('deploy', 'POST', `/api/v1/draft/${this.path}/promote`, {
      token: this.#token,
    });
    if (!response) return;
    const { version, unchanged = false } = JSON.parse(response.body) as { version: string; unchanged?: true };
    const expected = `v1.0.${this.#versions.length}`;
    if (version === expected && (!unchanged || response.wasRetried)) {
      this.#versions.push(built);
      this.#deployedAt = performance.now();
    } else this.#tally.fault(`${this.path}: deployed as ${response.body}, which should be ${expected}`);
  }

  /** Runs a version by its number. */
  async run(patch: number): Promise<void> {
    const response = await this.#run(`/exec/${this.path}/v1.0.${patch}`);
    if (response && response.body !== this.#versions[patch]?.expectedOutput('x')) {
      this.#tally.fault(`${this.path}: version ${patch} answered ${response.body.slice(0, 400)}`);
    }
  }

  async runNewest(): Promise<void> {
    const versions =
      performance.now() - this.#deployedAt > newestKnownWithin
        ? this.#versions.slice(-1)
        : this.#versions.slice(-2);
    const response = await this.#run(`/exec/name/${this.path}`);
    if (response && !versions.some((version) => version.expectedOutput('x') === response.body)) {
      this.#tally.fault(`${this.path}: the newest version answered ${response.body.slice(0, 400)}`);
    }
  }

  /** One of the things that a user does all the time, drawn by `chance`. */
  act(chance: number): Promise<void> {
    if (chance < 0.3) return this.save();
    if (chance < 0.5) return this.read();
    const { length } = this.#versions;
    if (chance < 0.6 || !length) return length ? this.runNewest() : this.save();
    return this.run(Math.floor(((chance - 0.6) / 0.4) * length));
  }

  /** All that was acknowledged is there, and nothing that was not asked for. */
  async verify(): Promise<void> {
    if (this.#drafts.size) await this.read();
    for (const patch of this.#versions.keys()) await this.run(patch);
    const target = `/exec/${this.path}/v1.0.${this.#versions.length}`;
    const sent = { token: this.#environmentToken, body: 'x' };
    const { status } = await sendUntilAnswered(this.#connection, this.#tally, 'look', ['POST', target, sent]);
    if (status !== 404)
      this.#tally.fault(`${this.path}: a version that was never deployed answers ${status}`);
  }

  #write(): Written {
    return program('javascript', `${this.path}#${this.#count++}`, (this.#count * 997) % 4000);
  }

  #run(target: string): Promise<RetriedResponse | undefined> {
    return this.#ask('run', 'POST', target, { token: this.#environmentToken, body: 'x' });
  }

  /** Anything else than 200 in the end is a fault, and answers nothing. */
  async #ask(what: string, method: string, path: string, sent: Sent): Promise<RetriedResponse | undefined> {
    const response = await sendUntilAnswered(this.#connection, this.#tally, what, [method, path, sent]);
    if (response.status === 200) return response;
    this.#tally.fault(`${what} of ${this.path}: ${response.status} ${response.body.slice(0, 400)}`);
    return undefined;
  }
}
