import type { Builds } from '../toolchains/build/builds.ts';
import type { LanguageHelp } from '../toolchains/language-help/language-help.ts';
import type { Language } from '../toolchains/language.ts';
import type { LibraryChecker } from '../toolchains/libraries/library-checker.ts';
import type { SchemaCompiler } from '../toolchains/schemas/schema-compiler.ts';
import type { HourlyEntries } from '../audit/hourly-entries.ts';
import type { RecordLevel } from '../plugins/record-level.ts';
import type { AdjustableLimits } from '../sandbox/run-limits.ts';
import type { Guard } from '../outbound/guard.ts';
import type { Identity } from '../outbound/identity.ts';
import type { Outbound } from '../outbound/outbound.ts';
import type { Secrets } from '../outbound/secrets.ts';
import type { RolloutCounter } from '../runs/rollout-counter.ts';
import type { RunRecorder } from '../runs/recorder.ts';
import type { Sandbox } from '../sandbox/sandbox.ts';
import type { Readiness } from './readiness.ts';
import type { Operation } from './operations/operation.ts';
import type { Admission } from './admission.ts';
import type { PluginHealth } from '../webhooks/plugin-health.ts';
import type { WebhookSender } from '../webhooks/sender.ts';
import type { Eraser } from '../storage/erasing/eraser.ts';
import type { Storage } from '../storage/storage.ts';

/** What every interface of the service works with. */
export interface ServiceContext {
  readonly storage: Storage;
  readonly builds: Builds;
  readonly languageHelp: LanguageHelp;
  /** Makes types and checks of the schemas of namespaces. */
  readonly schemaCompiler: SchemaCompiler;
  /** Finds what libraries export, and whether plugins can import them. */
  readonly libraryChecker: LibraryChecker;
  readonly sandbox: Sandbox;
  /** Notes in the audit log what has one entry for each actor, plugin and hour. */
  readonly hourlyEntries: HourlyEntries;
  /** Records runs, and counts builds. */
  readonly recorder: RunRecorder;
  /** Makes the requests of plugins that their namespaces grant. */
  readonly outbound: Outbound;
  /** Makes requests only to machines of the public network. */
  readonly guard: Guard;
  /** Encrypts what is stored for vendors. */
  readonly secrets: Secrets;
  /** Signs who a plugin's request is from. */
  readonly identity: Identity;
  /** Counts the runs of rollouts. */
  readonly rolloutCounter: RolloutCounter;
  /** The toolchains that work on this machine, by identifier. */
  readonly languages: ReadonlyMap<string, Language>;
  readonly admission: Admission;
  /** Erases the data of deleted tenants and plugins. It looks for some every 5 s, or at once when it is woken. */
  readonly eraser: Pick<Eraser, 'wake'>;
  /** Sends events to webhooks. It looks for some every second, or at once when it is woken. */
  readonly webhookSender: Pick<WebhookSender, 'wake'>;
  /** Counts how runs end, to tell webhooks of plugins that fail. */
  readonly pluginHealth: Pick<PluginHealth, 'count'>;
  /** `TENANT_PLUGINS`; `undefined` for any number. */
  readonly tenantPlugins: number | undefined;
  /** `TENANT_STORAGE_MB`, in bytes; `undefined` for any number. */
  readonly tenantStorage: number | undefined;
  /** What limits of a tenant may be at most: those of the service. */
  readonly maxLimits: {
    readonly run: AdjustableLimits;
    readonly records: RecordLevel;
    /** Calls a minute of one tenant; 0 for any number. */
    readonly calls: number;
  };
  /** The builder features that all interfaces together offer. */
  readonly features: readonly string[];
  /** `EDITOR_TOKEN_TTL`, in seconds. */
  readonly editorTokenTtl: number;
  /** The clock: milliseconds since the epoch. */
  readonly now: () => number;
  /** All operations of the service, for the document that describes them. */
  readonly operations: readonly Operation[];
  /** Whether each response is checked by its schema. */
  readonly checksResponses: boolean;
  /** Whether the service is shutting down. */
  readonly isDraining: () => boolean;
  /** Checks whether requests should come to this node, and which of its parts work. */
  readonly readiness: () => Promise<Readiness>;
}

/** One interface of the service: what it adds to the builder features, and its operations. */
export interface ServiceInterface {
  readonly features?: readonly string[];
  readonly operations: readonly Operation[];
}
