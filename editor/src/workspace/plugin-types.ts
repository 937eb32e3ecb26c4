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
  /** Puts a payload into the field of the panel that runs one, and shows that panel. */
  tryOut: (payload: string) => void;
  /** Shows a panel. */
  show: (panel: string) => void;
  /** The types, or what changed of them, became known. */
  onUpdate: () => void;
}

const NOTICE = 'types';

/** The types of the plugin's input and output, where its namespace has any, and their changes since the last deployment. */
export class PluginTypes {
  readonly #options: PluginTypesOptions;
  readonly #ended = new AbortController();
  #types: NamespaceTypes | undefined;
  #part: Part | undefined;
  #difference: { version: string; isLive: boolean; changes: readonly SchemaChange[] } | undefined;
  #isOutdated = false;
  #isLoading = false;
  #isStale = false;
  /** Whether the service has types at all, as far as is known. */
  #isSupported = true;
  /** The version that a notice about changed types was shown for. */
  #notifiedVersion: string | undefined;

  constructor(options: PluginTypesOptions) {
    this.#options = options;
  }

  /** The schemas, where the namespace has types and the code that uses them is loaded. */
  get schemas(): Schemas | undefined {
    if (!this.#types || !this.#part) return undefined;
    const { input, output } = this.#types;
    return { input: input as Schema | undefined, output: output as Schema | undefined };
  }

  /** The input of the first sample, as a payload to begin with. */
  get firstSample(): string | undefined {
    const sample = this.#types?.samples?.[0];
    return sample && JSON.stringify(sample.input, null, 2);
  }

  panels(): DockPanel[] {
    const [types, part] = [this.#types, this.#part];
    if (!types) return [];
    const { access, canRun, language, addTest, tryOut } = this.#options;
    const changes = this.#difference?.changes.length ?? 0;
    return [
      {
        id: 'types',
        label: texts().frame.types,
        count: { number: changes, label: texts().types.badge(changes), tone: 'bad' },
        content: () =>
          part?.typesPanel({
            types,
            lang: language(),
            since: this.#difference,
            isOutdated: this.#isOutdated,
            canEdit: access().canWrite,
            canRun: canRun(),
            addTest,
            tryOut,
          }) ?? html`<p class="panel-empty panel-wait" role="status">${texts().common.loading}</p>`,
      },
    ];
  }

  /** Loads the types, and those that the plugin was deployed with last. */
  async load(): Promise<void> {
    // A call while a load is under way means that something changed after that load began, so it loads once more.
    this.#isStale = true;
    if (this.#isLoading) return;
    this.#isLoading = true;
    while (this.#isStale && this.#isSupported && !this.#ended.signal.aborted) {
      this.#isStale = false;
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
        this.#types = this.#difference = undefined;
        return onUpdate();
      }
      this.#part ??= await loadPart(() => import('../types/parts.ts'));
      this.#types = types;
      onUpdate();
      await this.#compare(types, this.#part);
      onUpdate();
    } catch (error) {
      // The text can be edited without types. A service without this operation is not asked again.
      if (error instanceof HttpError && error.status === 404) this.#isSupported = false;
    }
  }

  async #compare(types: NamespaceTypes, { schemaChanges }: Part): Promise<void> {
    const { service } = this.#options;
    const { signal } = this.#ended;
    // A plugin that was never saved has no record yet, but may have types.
    const { live, latest, outdated } = await service.plugin(signal).catch((error: unknown): PluginState => {
      if (error instanceof HttpError && error.status === 404) return {};
      throw error;
    });
    this.#isOutdated = outdated ?? false;
    this.#difference = undefined;
    if (!latest) return;
    // The draft is compared with the newest version, because it was written after it.
    const { input, output } = (await service.version(latest, signal)) as { input?: Schema; output?: Schema };
    const changes = schemaChanges({ input, output }, types as Schemas);
    if (changes.length) this.#difference = { version: latest, isLive: latest === live, changes };
    this.#notify();
  }

  /** Shows a notice about changed types, once for each version. */
  #notify(): void {
    const { notices, access, show } = this.#options;
    const version = this.#difference?.version;
    if (version === this.#notifiedVersion) return;
    this.#notifiedVersion = version;
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
