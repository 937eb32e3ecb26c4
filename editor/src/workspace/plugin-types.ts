import { HttpError, type PluginTest } from 'plugin-editor/client.js';
import { html } from 'lit/html.js';
import { texts } from '../locales/locale.ts';
import type { PluginService } from '../service/plugin-service.ts';
import { type NamespaceTypes, namespaceTypesSchema } from '../service/namespace-types.ts';
import type { PluginState } from '../service/records.ts';
import type { SchemaChange } from '../types/schema-changes.ts';
import type { Schema, Schemas } from '../types/schema.ts';
import type { DockPanel } from '../ui/dock.ts';
import { loadPart } from '../ui/load-part.ts';
import type { Notices } from '../ui/notices.ts';
import type { Access } from './access.ts';

type Part = typeof import('../types/parts.ts');

export interface PluginTypesOptions {
  service: Pick<PluginService, 'types' | 'plugin' | 'version'>;
  notices: Notices;
  access: () => Access;
  canRun: () => boolean;
  language: () => string;
  addTest: (test: PluginTest) => void;
  /** Puts a payload into its field, and shows that. */
  tryOut: (payload: string) => void;
  /** Shows a panel. */
  show: (panel: string) => void;
  /** What is known changed. */
  onUpdate: () => void;
}

const NOTICE = 'types';

/** What the plugin gets and gives, where its namespace says so, and what of that is not as it was. */
export class PluginTypes {
  readonly #options: PluginTypesOptions;
  readonly #ended = new AbortController();
  #types: NamespaceTypes | undefined;
  #part: Part | undefined;
  #since: { version: string; isLive: boolean; changes: readonly SchemaChange[] } | undefined;
  #isOutdated = false;
  #isLoading = false;
  #isWanted = false;
  /** Whether the builder has such an operation, as far as is known. */
  #isKnown = true;
  /** The version that was said to be of other types. */
  #said: string | undefined;

  constructor(options: PluginTypesOptions) {
    this.#options = options;
  }

  /** The schemas of values, where there are any and what works with them is loaded. */
  get schemas(): Schemas | undefined {
    if (!this.#types || !this.#part) return undefined;
    const { input, output } = this.#types;
    return { input: input as Schema | undefined, output: output as Schema | undefined };
  }

  /** A payload to begin with. */
  get firstSample(): string | undefined {
    const sample = this.#types?.samples?.[0];
    return sample && JSON.stringify(sample.input, null, 2);
  }

  panels(): DockPanel[] {
    const [types, part] = [this.#types, this.#part];
    if (!types) return [];
    const { access, canRun, language, addTest, tryOut } = this.#options;
    const changes = this.#since?.changes.length ?? 0;
    return [
      {
        id: 'types',
        label: texts().frame.types,
        count: { number: changes, label: texts().types.badge(changes), tone: 'bad' },
        content: () =>
          part?.typesPanel({
            types,
            lang: language(),
            since: this.#since,
            isOutdated: this.#isOutdated,
            canEdit: access().canWrite,
            canRun: canRun(),
            addTest,
            tryOut,
          }) ?? html`<p class="panel-empty panel-wait" role="status">${texts().common.loading}</p>`,
      },
    ];
  }

  /** Asks what the types are, and what they were when the plugin was deployed last. */
  async load(): Promise<void> {
    // Whoever asks meanwhile knows of something newer than what is being read.
    this.#isWanted = true;
    if (this.#isLoading) return;
    this.#isLoading = true;
    while (this.#isWanted && this.#isKnown && !this.#ended.signal.aborted) {
      this.#isWanted = false;
      await this.#loadOnce();
    }
    this.#isLoading = false;
  }

  close(): void {
    this.#ended.abort();
  }

  async #loadOnce(): Promise<void> {
    const { service, onUpdate } = this.#options;
    const { signal } = this.#ended;
    try {
      const types = await service.types(namespaceTypesSchema, signal);
      // Without types there is nothing to show, and nothing to load.
      if (!types.declarations) {
        this.#types = this.#since = undefined;
        return onUpdate();
      }
      this.#part ??= await loadPart(() => import('../types/parts.ts'));
      this.#types = types;
      onUpdate();
      await this.#compare(types, this.#part);
      onUpdate();
    } catch (error) {
      // One can write without. A builder that does not know of types is not asked again.
      if (error instanceof HttpError && error.status === 404) this.#isKnown = false;
    }
  }

  async #compare(types: NamespaceTypes, { schemaChanges }: Part): Promise<void> {
    const { service } = this.#options;
    const { signal } = this.#ended;
    // A plugin that was never saved is not there, which is no reason to stop asking.
    const { live, latest, outdated } = await service.plugin(signal).catch((error: unknown): PluginState => {
      if (error instanceof HttpError && error.status === 404) return {};
      throw error;
    });
    this.#isOutdated = outdated ?? false;
    this.#since = undefined;
    if (!latest) return;
    // The draft was built like the newest version, or after it.
    const { input, output } = (await service.version(latest, signal)) as { input?: Schema; output?: Schema };
    const changes = schemaChanges({ input, output }, types as Schemas);
    if (changes.length) this.#since = { version: latest, isLive: latest === live, changes };
    this.#say();
  }

  /** Says it once for each version that is of other types. */
  #say(): void {
    const { notices, access, show } = this.#options;
    const version = this.#since?.version;
    if (version === this.#said) return;
    this.#said = version;
    if (version === undefined) return notices.hide(NOTICE);
    if (!access().canWrite) return;
    notices.show(NOTICE, () => ({
      tone: 'note',
      text: texts().types.noticeChanged(version),
      actions: [
        {
          label: texts().types.show,
          run: () => {
            notices.hide(NOTICE);
            show('types');
          },
        },
        notices.dismiss(NOTICE),
      ],
    }));
  }
}
