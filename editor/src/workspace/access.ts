import { texts } from '../locales/locale.ts';
import { Emitter } from '../plugin/emitter.ts';

/** What the user may do with the open plugin: what the token permits and the page around the editor allows. */
export class Access extends Emitter<{ change: void }> {
  #permissions: readonly string[] | undefined;
  #isHostReadOnly: boolean;

  /**
   * @param permissions what the token permits; `undefined` where the service does not say
   * @param isHostReadOnly whether the page around the editor wants nothing changed
   */
  constructor(permissions: readonly string[] | undefined, isHostReadOnly: boolean) {
    super();
    this.#permissions = permissions;
    this.#isHostReadOnly = isHostReadOnly;
  }

  get permissions(): readonly string[] | undefined {
    return this.#permissions;
  }

  set permissions(permissions: readonly string[] | undefined) {
    this.#permissions = permissions;
    this.emit('change');
  }

  get isHostReadOnly(): boolean {
    return this.#isHostReadOnly;
  }

  set isHostReadOnly(isHostReadOnly: boolean) {
    this.#isHostReadOnly = isHostReadOnly;
    this.emit('change');
  }

  /** Save, build and test. */
  get canWrite(): boolean {
    return this.#has('write') && !this.#isHostReadOnly;
  }

  /** Deploy what is built, roll versions out, make them live, and delete them. */
  get canDeploy(): boolean {
    return this.#has('deploy') && !this.#isHostReadOnly;
  }

  /** See messages, logs and payloads of real runs. */
  get canSeeRuns(): boolean {
    return this.#has('runs');
  }

  /** The sentence that says why the plugin cannot be changed; `undefined` where it can. */
  get readOnlyReason(): string | undefined {
    if (this.canWrite) return undefined;
    const { frame } = texts();
    if (this.#isHostReadOnly) return frame.readOnlyHost;
    return this.canDeploy ? frame.readOnlyDeploy : frame.readOnlyToken;
  }

  /** A service that does not list permissions refuses what the token does not permit; runs are shown only when it lists them. */
  #has(permission: string): boolean {
    return this.#permissions?.includes(permission) ?? permission !== 'runs';
  }
}
