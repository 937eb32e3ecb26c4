import type { Connection } from '../support/connection.ts';
import { program } from './programs.ts';
import type { Tally } from './tally.ts';
import { UNANSWERED, User } from './user.ts';

const built = program('javascript', 'shared', 0);

/**
 * One plugin that several clients change and deploy at once. Each version is acknowledged as new to one of them; others
 * may be told that nothing changed since.
 */
export class SharedPlugin {
  readonly #path: string;
  readonly #clients: number;
  readonly #tally: Tally;
  #connections: Connection[] = [];
  #token = '';
  #environmentToken = '';
  /** How many versions there were when it was last looked. */
  #known = 0;
  #acknowledged = new Set<number>();
  #pending = 0;
  /** How many tests the draft was given, so that each is another. */
  #tests = 0;

  constructor(path: string, clients: number, tally: Tally) {
    this.#path = path;
    this.#clients = clients;
    this.#tally = tally;
  }

  /** Builds it the first time, and afterwards checks the versions. */
  async signIn(connect: () => Connection, environmentToken: string): Promise<void> {
    this.#environmentToken = environmentToken;
    this.#connections = Array.from({ length: this.#clients }, connect);
    const [first] = this.#connections as [Connection];
    const user = new User(this.#path, this.#tally);
    this.#token = await user.signIn(first, environmentToken);
    if (!this.#known && !this.#acknowledged.size) await user.build(built, false);
    else await this.#verify(first);
  }

  /** What each client does: gives the draft another test, which needs no other build, and deploys it. */
  deploys(): (() => Promise<void>)[] {
    return this.#connections.map((connection) => async () => {
      const { lang, contents } = built;
      const saved = await connection.send('POST', `/api/v1/draft/${this.#path}`, {
        token: this.#token,
        type: 'application/json',
        body: JSON.stringify({ lang, contents, tests: [{ name: `test ${this.#tests++}` }] }),
      });
      if (saved.status !== 200) this.#tally.fault(`a save: ${saved.status} ${saved.body}`);
      this.#pending += 1;
      const { status, body } = await connection.send('POST', `/api/v1/draft/${this.#path}/promote`, {
        token: this.#token,
      });
      this.#pending -= 1;
      const [, found, unchanged] =
        /^\{"version":"v1\.0\.(\d+)"(,"unchanged":true)?,"live":"v1\.0\.\1"\}$/.exec(body) ?? [];
      const patch = Number(found ?? NaN);
      if (status !== 200 || Number.isNaN(patch)) this.#tally.fault(`a deploy: ${status} ${body}`);
      if (unchanged) return this.#tally.count('deploys that changed nothing');
      if (patch < this.#known || this.#acknowledged.has(patch))
        this.#tally.fault(`two deploys were both answered with v1.0.${patch}`);
      this.#acknowledged.add(patch);
      this.#tally.time('deploy', 0);
    });
  }

  /** Those acknowledged are there, no more than those sent are, and each answers. */
  async #verify(connection: Connection): Promise<void> {
    const least = Math.max(this.#known, ...[...this.#acknowledged].map((patch) => patch + 1));
    const most = this.#known + this.#acknowledged.size + this.#pending;
    let there = this.#known;
    for (;;) {
      const { status, body } = await connection.send('POST', `/exec/${this.#path}/v1.0.${there}`, {
        token: this.#environmentToken,
        body: 'x',
      });
      if (status === 404) break;
      if (body !== built.expectedOutput('x')) this.#tally.fault(`v1.0.${there} answered ${status} ${body}`);
      there += 1;
    }
    if (there < least || there > most) {
      this.#tally.fault(`${there} versions where there should be ${least} to ${most}`);
    }
    for (let i = this.#known + this.#acknowledged.size; i < there; i++) this.#tally.count(UNANSWERED);
    this.#known = there;
    this.#acknowledged = new Set();
    this.#pending = 0;
  }
}
