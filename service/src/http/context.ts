import type { Builds } from '../toolchains/build/builds.ts';
import type { LanguageHelp } from '../toolchains/language-help/language-help.ts';
import type { Language } from '../toolchains/language.ts';
import type { SchemaCompiler } from '../toolchains/schemas/schema-compiler.ts';
import type { RunRecorder } from '../runs/recorder.ts';
import type { Sandbox } from '../sandbox/sandbox.ts';
import type { Readiness } from './readiness.ts';
import type { Operation } from './operations/operation.ts';
import type { Admission } from './admission.ts';
import type { Eraser } from '../storage/erasing/eraser.ts';
import type { Storage } from '../storage/storage.ts';

/** What every interface of the service works with. */
export interface ServiceContext {
  readonly storage: Storage;
  readonly builds: Builds;
  readonly languageHelp: LanguageHelp;
  /** Makes types and checks of the schemas of namespaces. */
  readonly schemaCompiler: SchemaCompiler;
  readonly sandbox: Sandbox;
  /** Records runs, and counts builds. */
  readonly recorder: RunRecorder;
  /** The toolchains that work on this machine, by identifier. */
  readonly languages: ReadonlyMap<string, Language>;
  readonly admission: Admission;
  /** Erases the data of deleted tenants and plugins. It looks for some every 5 s, or at once when it is woken. */
  readonly eraser: Pick<Eraser, 'wake'>;
  /** How many plugins a tenant may have; `undefined` for any number. */
  readonly tenantPlugins: number | undefined;
  /** How many bytes a tenant may store; `undefined` for any number. */
  readonly tenantStorage: number | undefined;
  /** The builder features that all interfaces together offer. */
  readonly features: readonly string[];
  /** How long an editor token lives by default, in seconds. */
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
