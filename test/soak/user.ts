import { setTimeout } from 'node:timers/promises';
import type { HttpResponse, Connection, Sent } from '../support/connection.ts';
import type { Written } from './programs.ts';
import type { Tally } from './tally.ts';

/** Writes that were cut off, and were there after the restart. */
export const UNANSWERED = 'unanswered writes that were there';

/** A draft as the service said that it is saved. */
export interface Promised {
  lang: string;
  contents: string;
  /** Absent when the answer that would have named it did not come. */
  etag?: string;
}

/**
 * One user with one plugin, who does one thing after the other, and remembers what the service acknowledged, and what
 * was in progress when it went. All methods reject when the connection is lost.
 */
export class User {
  readonly path: string;
  readonly #tally: Tally;
  #connection: Connection | undefined;
  #token = '';
  #environmentToken = '';

  /** The draft that was acknowledged last. */
  draft: Promised | undefined;
  /** What the draft may be as well: a write of it was sent, and not answered. */
  pendingDraft: Promised | undefined;
  /** What was built last, as acknowledged. */
  built: Written | undefined;
  /** What the last build may be as well. */
  pendingBuild: Written | undefined;
  /** What each version answers with, from the first on. */
  readonly versions: Written[] = [];
  isDeploying = false;
  /** How many versions, from the first on, have answered after a restart. */
  #verified = 0;

  constructor(path: string, tally: Tally) {
    this.path = path;
    this.#tally = tally;
  }

  /** From now on it talks to this service, with a new editor token, which is returned. */
  async signIn(connection: Connection, environmentToken: string): Promise<string> {
    this.#connection = connection;
    this.#environmentToken = environmentToken;
    const response = await this.#ask('token', 'GET', `/auth/v2/access/${this.path}`, {
      token: environmentToken,
    });
    this.#token = (JSON.parse(response.body) as { token: string }).token;
    return this.#token;
  }

  /** Saves, and reads back what was acknowledged. */
  async save(written: Written): Promise<void> {
    const { lang, contents } = written;
    this.pendingDraft = { lang, contents };
    const response = await this.#ask('save', 'POST', `/api/v1/draft/${this.path}`, {
      token: this.#token,
      type: 'application/json',
      body: JSON.stringify({
        lang,
        contents,
        tests: [{ name: 'n', description: '', payload: contents.slice(0, 40) }],
      }),
    });
    this.#acknowledgeDraft(response);
    await this.readBack();
  }

  async readBack(): Promise<void> {
    const response = await this.#ask('read', 'GET', `/api/v1/draft/${this.path}`, { token: this.#token });
    const read = JSON.parse(response.body) as Promised;
    const etag = String(response.headers['etag']);
    const matches = (one: Promised | undefined) =>
      one?.contents === read.contents && one.lang === read.lang && (one.etag ?? etag) === etag;
    if (matches(this.draft)) this.#tally.count('reads of what was acknowledged');
    else if (matches(this.pendingDraft)) {
      this.#tally.count(UNANSWERED);
      this.draft = { ...read, etag };
    } else this.#tally.fault(`${this.path}: the draft is neither what was acknowledged nor what was sent`);
    this.pendingDraft = undefined;
  }

  /** Builds, with the log streamed or at the end. */
  async build(written: Written, streamed: boolean): Promise<void> {
    const { lang, contents } = written;
    this.pendingDraft = { lang, contents };
    if (written.isSound) this.pendingBuild = written;
    const response = await this.#ask(`build ${lang}`, 'POST', `/api/v1/build/${lang}/${this.path}`, {
      token: this.#token,
      body: contents,
      ...(streamed && { accept: 'text/event-stream' }),
    });
    this.#acknowledgeDraft(response);
    const result = streamed ? /^event: result\ndata: (.*)$/m.exec(response.body)?.[1] : response.body;
    const { succeeded, outputLog } = JSON.parse(result ?? '{}') as {
      succeeded?: boolean;
      outputLog?: string;
    };
    if (succeeded === false && outputLog?.includes('which is the limit of time')) {
      // The machine has too much to do.
      this.#tally.count('builds past their limit of time');
      throw new WrongResponse(`a build of ${lang} for ${this.path} took too long`);
    }
    if (succeeded !== written.isSound) {
      this.#tally.fault(`${this.path}: a build of ${lang} answered ${response.body.slice(0, 400)}`);
    }
    if (succeeded) {
      this.built = written;
      this.pendingBuild = undefined;
    }
  }

  /** Tries out what was built. */
  async test(input: string): Promise<void> {
    const response = await this.#ask('test', 'POST', `/api/v1/test/${this.path}`, {
      token: this.#token,
      body: input,
    });
    const { result } = JSON.parse(response.body) as { result?: string };
    if (result !== this.built?.expectedOutput(input)) {
      this.#tally.fault(`${this.path}: a test answered ${response.body.slice(0, 400)}`);
    }
  }

  /** Deploys what was built last. */
  async deploy(): Promise<void> {
    this.isDeploying = true;
    const { body } = await this.#ask('deploy', 'POST', `/api/v1/draft/${this.path}/promote`, {
      token: this.#token,
    });
    this.isDeploying = false;
    const { version, unchanged } = JSON.parse(body) as { version: string; unchanged?: true };
    const expected = `v1.0.${this.versions.length - (unchanged ? 1 : 0)}`;
    if (version !== expected)
      this.#tally.fault(`${this.path}: deployed as ${version}, which should be ${expected}`);
    if (!unchanged) this.versions.push(this.built as Written);
    else if (this.versions.at(-1)?.contents !== this.built?.contents)
      this.#tally.fault(`${this.path}: another text than that of ${version} was called unchanged`);
  }

  /** Runs a version by its number, or the newest. */
  async run(input: string, patch?: number): Promise<void> {
    const target = patch === undefined ? `/exec/name/${this.path}` : `/exec/${this.path}/v1.0.${patch}`;
    const response = await this.#ask('run', 'POST', target, { token: this.#environmentToken, body: input });
    if (response.body !== this.versions.at(patch ?? -1)?.expectedOutput(input)) {
      this.#tally.fault(`${this.path}: version ${patch ?? 'newest'} answered ${response.body.slice(0, 400)}`);
    }
  }

  /** After a restart: all that was acknowledged is there, and what was in progress is there whole or not at all. */
  async verify(): Promise<void> {
    try {
      if (this.draft || this.pendingDraft) await this.#verifyDraft();
      await this.#verifyVersions();
      await this.#verifyBuild();
    } catch (error) {
      // It is booked, and the other users are looked at all the same.
      if (!(error instanceof WrongResponse)) throw error;
    }
  }

  async #verifyDraft(): Promise<void> {
    if (this.draft) return this.readBack();
    // The first save ever may have been cut off.
    const { status } = await this.#send('GET', `/api/v1/draft/${this.path}`, { token: this.#token });
    if (status === 404) this.pendingDraft = undefined;
    else await this.readBack();
  }

  async #verifyVersions(): Promise<void> {
    const runs = (patch: number) =>
      this.#send('POST', `/exec/${this.path}/v1.0.${patch}`, { token: this.#environmentToken, body: 'x' });
    const next = this.versions.length;
    if (this.isDeploying && (await runs(next)).status === 200) {
      this.#tally.count(UNANSWERED);
      this.versions.push(this.built as Written);
    }
    this.isDeploying = false;
    // Those that are new since the last time, and a few before; of the older ones the rows are compared.
    const first = Math.max(0, Math.min(this.#verified, next - 4));
    for (let patch = first; patch < this.versions.length; patch++) await this.run('x', patch);
    this.#verified = this.versions.length;
    const { status } = await runs(this.versions.length);
    if (status !== 404)
      this.#tally.fault(`${this.path}: a version that was never deployed answers ${status}`);
  }

  /** What was built answers still, once the draft is again what it was built of. */
  async #verifyBuild(): Promise<void> {
    for (const written of [this.built, this.pendingBuild]) {
      if (!written) continue;
      if (this.draft?.contents !== written.contents) await this.save(written);
      const path = `/api/v1/test/${this.path}`;
      const { status, body } = await this.#send('POST', path, { token: this.#token, body: 'x' });
      const { result } = JSON.parse(body) as { result?: string };
      if (status === 200 && result === written.expectedOutput('x')) {
        if (written === this.pendingBuild) this.#tally.count(UNANSWERED);
        this.built = written;
        this.pendingBuild = undefined;
        return;
      }
      if (status !== 409) this.#tally.fault(`${this.path}: a test answered ${status} ${body.slice(0, 400)}`);
    }
    if (this.built) this.#tally.fault(`${this.path}: the build that was acknowledged is gone`);
    this.pendingBuild = undefined;
  }

  #acknowledgeDraft({ headers }: HttpResponse): void {
    this.draft = { ...(this.pendingDraft as Promised), etag: String(headers['etag']) };
    this.pendingDraft = undefined;
  }

  #send(method: string, path: string, sent: Sent): Promise<HttpResponse> {
    if (!this.#connection) throw new Error('The user is not signed in.');
    return this.#connection.send(method, path, sent);
  }

  /** Asks until it is answered, as a client does that is told to come back later; anything else but 200 is a fault. */
  async #ask(what: string, method: string, path: string, sent: Sent): Promise<HttpResponse> {
    for (;;) {
      const start = performance.now();
      const response = await this.#send(method, path, sent);
      const { status, headers, body } = response;
      if (status === 200) {
        this.#tally.time(what, performance.now() - start);
        return response;
      }
      const wait = /^\d+$/.exec(headers['retry-after'] ?? '')?.[0];
      if (status !== 503 || wait === undefined) {
        const fault = `${what} of ${this.path}: ${status} ${body.slice(0, 400)}`;
        this.#tally.fault(fault);
        throw new WrongResponse(fault);
      }
      this.#tally.count('503 with Retry-After');
      await setTimeout(Number(wait) * 1000);
    }
  }
}

/** An answer that is a fault, and was booked as one. */
export class WrongResponse extends Error {
  override readonly name = 'WrongResponse';
}
