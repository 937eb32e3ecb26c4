import { HttpError, type Plugin, type PluginTypes as NamespaceTypes } from 'plugin-editor/client.js';
import { texts } from '../locales/locale.ts';
import { failureOf, isTransient } from '../service/failure.ts';
import type { Schema, Schemas } from '../types/schema.ts';
import type { SchemaChange } from '../types/schema-changes.ts';
import { loadModule } from '../ui/lazy-module.ts';
import type { Access } from './access.ts';
import type { Actions } from './actions.ts';
import type { Dock } from './dock.ts';
import type { PluginDocument } from './plugin-document.ts';
import type { PluginSession } from './plugin-session.ts';

type TypesModule = typeof import('../types/types-panel.ts');

/** How the types have changed since a version was deployed. */
export interface TypesDifference {
  version: string;
  isLive: boolean;
  changes: readonly SchemaChange[];
}

const NOTICE = 'types';

/** The wait before types that could not be loaded are asked for again, in ms; each wait is longer by as much, up to ten times it. */
const RETRY = 3000;

/** The types of the plugin's input and output, where its namespace has any, and their changes since the last deployment. */
export class PluginTypes {
  readonly #session: PluginSession;
  readonly #document: PluginDocument;
  readonly #access: Access;
  readonly #dock: Dock;
  readonly #actions: Actions;
  #types: NamespaceTypes | undefined;
  #module: TypesModule | undefined;
  /** What the service checks, builds and runs a text with, as of the last load. */
  #checkedWith: string | undefined;
  #difference: TypesDifference | undefined;
  #isOutdated = false;
  #isLoading = false;
  #isStale = false;
  /** How many loads have failed since one succeeded. */
  #failures = 0;
  #retry: ReturnType<typeof setTimeout> | undefined;
  /** Whether a sample was offered as payload. */
  #hasSample = false;
  /** Whether the service has types at all, as far as is known. */
  #isSupported = true;
  /** The version that a notice about changed types was shown for. */
  #notifiedVersion: string | undefined;

  constructor(
    session: PluginSession,
    document: PluginDocument,
    access: Access,
    dock: Dock,
    actions: Actions,
  ) {
    this.#session = session;
    this.#document = document;
    this.#access = access;
    this.#dock = dock;
    this.#actions = actions;
    // What was built and deployed was made for the types of that moment.
    actions.on('built', () => void this.load());
    document.on('language', () => {
      // Those of another language are no news.
      this.#checkedWith = undefined;
      void this.load();
    });
    session.signal.addEventListener('abort', () => clearTimeout(this.#retry));
  }

  /** The types, and what may be reached and imported; `undefined` where there is none of these, or they are not loaded yet. */
  get current(): NamespaceTypes | undefined {
    return this.#types;
  }

  /** Whether the plugin may reach anything. */
  get canCall(): boolean {
    return this.#types?.connections !== undefined;
  }

  /** What shows types, once it is loaded. */
  get module(): TypesModule | undefined {
    return this.#module;
  }

  get difference(): TypesDifference | undefined {
    return this.#difference;
  }

  /** Whether the live version was made for other types. */
  get isOutdated(): boolean {
    return this.#isOutdated;
  }

  /** The schemas, where the namespace has types and the code that uses them is loaded. */
  get schemas(): Schemas | undefined {
    if (!this.#types?.declarations || !this.#module) return undefined;
    const { input, output } = this.#types;
    return { input: input as Schema | undefined, output: output as Schema | undefined };
  }

  /** Loads the types, and those that the plugin was deployed with last. */
  async load(): Promise<void> {
    // A call during a load means that something changed after that load began, so it loads once more.
    this.#isStale = true;
    if (this.#isLoading) return;
    this.#isLoading = true;
    while (this.#isStale && this.#isSupported && !this.#session.signal.aborted) {
      this.#isStale = false;
      clearTimeout(this.#retry);
      await this.#loadOnce();
    }
    this.#isLoading = false;
  }

  async #loadOnce(): Promise<void> {
    const { client, location, screen, signal } = this.#session;
    try {
      const { language } = this.#document;
      const { connections, libraries, ...rest } = await client.getTypes(location, {
        signal,
        ...(language === 'python' && { language: 'python' as const }),
      });
      // The other languages have no `fetch` and no libraries.
      const isScript = language === 'javascript' || language === 'typescript';
      const types: NamespaceTypes = {
        ...rest,
        ...(isScript && connections?.length && { connections }),
        ...(isScript && libraries?.length && { libraries }),
      };
      this.#checkText(types);
      // Without any of these there is nothing to show, and nothing to load.
      const hasAny = types.declarations || types.connections || types.libraries;
      if (hasAny) this.#module ??= await loadModule(() => import('../types/types-panel.ts'));
      const [sample] = types.samples ?? [];
      // A value that fits the input's type is a better start than an empty field. What the user empties later stays so.
      if (sample && !this.#hasSample) {
        this.#hasSample = true;
        this.#actions.payload.payload ||= JSON.stringify(sample.input, null, 2);
      }
      this.#types = hasAny ? types : undefined;
      screen.draw();
      await this.#compare(types);
      this.#notify();
      this.#failures = 0;
      screen.draw();
    } catch (error) {
      // The text can be edited without types. A service without this operation is not asked again.
      const failure = failureOf(error);
      const hasResponse = error instanceof HttpError;
      if (hasResponse && error.status === 404) this.#isSupported = false;
      // A response of another form stays as it is.
      else if ((hasResponse || failure === 'connection') && isTransient(failure) && !signal.aborted)
        this.#retry = setTimeout(() => void this.load(), RETRY * Math.min(10, ++this.#failures));
    }
  }

  /** Makes the next check, build and run of the text use the new types, where they differ from those before. */
  #checkText({ declarations, input, output, connections, libraries }: NamespaceTypes): void {
    const former = this.#checkedWith;
    this.#checkedWith = JSON.stringify([declarations, input, output, connections, libraries]);
    this.#actions.handleTypes(former !== undefined && former !== this.#checkedWith);
  }

  /** Compares the types with those that the plugin was deployed with last. */
  async #compare(types: NamespaceTypes): Promise<void> {
    const { client, location, signal } = this.#session;
    // A plugin that was never saved has no record yet, but may have types.
    const plugin = types.declarations
      ? await client.getPlugin(location, { signal }).catch((error: unknown): Partial<Plugin> => {
          if (error instanceof HttpError && error.status === 404) return {};
          throw error;
        })
      : {};
    const { live, latest, outdated } = plugin;
    this.#isOutdated = outdated ?? false;
    this.#difference = undefined;
    if (!latest || !this.#module) return;
    // The draft is compared with the newest version, because it was written after it.
    const version = await client.getVersion(location, latest, { signal });
    const changes = this.#module.schemaChanges(version as Schemas, types as Schemas);
    if (changes.length) this.#difference = { version: latest, isLive: latest === live, changes };
  }

  /** Shows a notice about changed types, once for each version. */
  #notify(): void {
    const { notices } = this.#session;
    const version = this.#difference?.version;
    if (version === this.#notifiedVersion) return;
    this.#notifiedVersion = version;
    if (version === undefined) return notices.hide(NOTICE);
    if (!this.#access.canWrite) return;
    notices.show(NOTICE, () => ({
      tone: 'note',
      text: texts().types.noticeChanged(version),
      actions: [
        {
          label: texts().types.show,
          run: () => {
            notices.hide(NOTICE);
            this.#dock.focus('types');
          },
        },
        notices.dismiss(NOTICE),
      ],
    }));
  }
}
