import type { StorageUsage } from 'plugin-editor/client.js';
import { formatNumber } from '../locales/formats.ts';
import { texts } from '../locales/locale.ts';
import type { Dock } from './dock.ts';
import type { PluginSession } from './plugin-session.ts';
import type { ServiceState } from './service-state.ts';

/** The share of the allowed storage from which on the user is told that it is nearly full. */
const NEARLY_FULL = 0.9;

const NOTICE = 'storage';

/** Tells the user that the storage for the tenant's plugins is nearly full, or full, and what makes room. */
export class StorageNotice {
  readonly #session: PluginSession;
  readonly #serviceState: ServiceState;
  readonly #dock: Dock;
  /** What the user was told last. A notice that was dismissed is not shown again for the same. */
  #told: 'nearlyFull' | 'full' | undefined;

  constructor(session: PluginSession, serviceState: ServiceState, dock: Dock) {
    this.#session = session;
    this.#serviceState = serviceState;
    this.#dock = dock;
    void session.details.then((details) => this.#show(details?.usage));
  }

  /** What is stored may have changed: asks the service how much it is. */
  async load(): Promise<void> {
    const { client, signal } = this.#session;
    // Without a response, what the user was told last stays.
    const details = await client.getSession({ signal }).catch(() => undefined);
    if (details) this.#show(details.usage);
  }

  #show(usage: StorageUsage | undefined): void {
    const { notices, signal } = this.#session;
    if (!usage || signal.aborted) return;
    const { storageMb: used, allowedStorageMb: allowed = Infinity } = usage;
    const level = used >= allowed ? 'full' : used >= allowed * NEARLY_FULL ? 'nearlyFull' : undefined;
    if (level === this.#told) return;
    this.#told = level;
    if (!level) return notices.hide(NOTICE);
    notices.show(NOTICE, () => {
      const { storage } = texts();
      const showVersions = {
        label: storage.showVersions,
        run: () => {
          notices.hide(NOTICE);
          this.#dock.focus('versions');
        },
      };
      return {
        tone: 'note',
        // Rounded down: a full storage alone is said to be full.
        text: storage[level](formatNumber(Math.floor(used)), formatNumber(allowed)),
        actions: [...(this.#serviceState.hasVersions ? [showVersions] : []), notices.dismiss(NOTICE)],
      };
    });
  }
}
