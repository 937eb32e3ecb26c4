import type { PluginEditorError, PluginEditorState } from 'plugin-editor';
import type {
  AuditView,
  CustomerView,
  Overview,
  PluginDetails,
  PluginEntry,
  SignedIn,
  SignedOut,
  TenantView,
  VersionRuns,
  WebhookView,
  WorkView,
} from '../vendor/wire.ts';
import type { LogEntry } from './event-log.ts';
import type { Delivery, Preferences } from './preferences.ts';
import type { Question } from './unsaved-work.ts';

/** The back end's runs of the plugin that is shown. */
export interface Runs {
  /** The input that the user typed; `undefined` for the sample. */
  input?: string | undefined;
  busy: boolean;
  result?: VersionRuns | undefined;
  /** The input that gave that result. */
  ran?: string | undefined;
  problem?: string | undefined;
}

/** The preview of what the plugin that is shown does in the app, with the app's own data. */
export interface Work {
  busy: boolean;
  result?: WorkView | undefined;
  problem?: string | undefined;
}

export const NO_WORK: Work = { busy: false };

/** What the back end knows of what is shown: the customers, one customer's plugins, or one plugin. */
export interface Data {
  overview?: Overview | undefined;
  details?: PluginDetails | undefined;
  customers?: readonly CustomerView[] | undefined;
  entries?: readonly AuditView[] | undefined;
  /** Why it could not be loaded, or why a change was not made. */
  problem?: string | undefined;
}

export const NO_DATA: Data = {};

export const NO_RUNS: Runs = { busy: false };

/** `launch`: there was no editor before. `next`: it was open, with another plugin. */
export type Opening = 'launch' | 'next';

/** The times from the request for a plugin to the editor's message that it can be edited, in ms; the last of each kind. */
export type Times = Record<Delivery, Partial<Record<Opening, number>>>;

const NO_TIMES: Times = { url: {}, message: {} };

/** The state of the whole page. The views are functions of it. */
export interface State extends Preferences {
  /** Who is signed in, or could be; unknown until the back end has answered. */
  account: SignedIn | SignedOut | undefined;
  /** Why the last request to the back end failed. */
  failure: string | undefined;
  /** Why the last name for a new plugin was refused. */
  nameProblem: string | undefined;
  /** The customer and the plugin that the address names. */
  ident: string | undefined;
  fn: string | undefined;
  /** Counts how often another user, customer or plugin was shown. What was requested before that is not shown. */
  visit: number;
  /** Whether the editor is open, rather than about to be. */
  launched: boolean;
  /** Language for a plugin that has no source yet. */
  template: string;
  times: Times;
  /** The request that waits until unsaved work is saved. */
  question: Question | undefined;
  editorState: PluginEditorState;
  editorError: PluginEditorError | undefined;
  data: Data;
  /** The customer that the user was asked to confirm the deletion of. */
  deleting: string | undefined;
  runs: Runs;
  work: Work;
  log: readonly LogEntry[];
  /** What the plugin service told the back end. */
  webhooks: readonly WebhookView[];
  /** The HTML that was copied last. */
  copied: string | undefined;
}

export const state: State = {
  account: undefined,
  failure: undefined,
  nameProblem: undefined,
  ident: undefined,
  fn: undefined,
  visit: 0,
  launched: false,
  template: 'typescript',
  delivery: 'message',
  times: NO_TIMES,
  question: undefined,
  editorState: 'idle',
  editorError: undefined,
  data: NO_DATA,
  deleting: undefined,
  runs: NO_RUNS,
  work: NO_WORK,
  log: [],
  webhooks: [],
  copied: undefined,
  theme: 'auto',
  look: 'larder',
  drawer: 'closed',
};

let draw: () => void = () => {};
let isDrawScheduled = false;

/** Sets the function that draws the page after each change. */
export function onChange(listener: () => void): void {
  draw = listener;
}

/** Changes the state. The page is drawn once for all changes of one task. */
export function change(part: Partial<State>): void {
  Object.assign(state, part);
  if (isDrawScheduled) return;
  isDrawScheduled = true;
  queueMicrotask(() => {
    isDrawScheduled = false;
    draw();
  });
}

/** Resolves once the page shows what was changed last. */
export const whenDrawn = (): Promise<void> => new Promise(queueMicrotask);

/** The account of the user that is signed in, if somebody is. */
export const signedInAccount = ({ account }: State): SignedIn | undefined =>
  account && 'user' in account ? account : undefined;

/** The customer that the address names, when it is one of the user's; the user's first when it names none. */
export function currentTenant(now: State): TenantView | undefined {
  const tenants = signedInAccount(now)?.tenants;
  return now.ident === undefined ? tenants?.[0] : tenants?.find(({ ident }) => ident === now.ident);
}

/** Whether the customer that is shown is suspended, as far as is known. */
export const isSuspended = ({ data }: State): boolean =>
  data.details?.suspended ?? data.overview?.suspended ?? false;

/** The namespace of the plugin that is shown; `undefined` for one that no list has, which is then in the default one. */
export function shownNamespace(now: State): string | undefined {
  const { stranger } = signedInAccount(now) ?? {};
  if (stranger && stranger.ident === now.ident) return stranger.namespace;
  return shownPlugin(now)?.namespace;
}

/** The plugin that is shown, where the customer's list has it. */
export const shownPlugin = (now: State): PluginEntry | undefined =>
  currentTenant(now)?.plugins.find(({ name }) => name === now.fn);

/** What the plugin is run with: what the user typed, else a sample of what it would get. */
export function runInput(now: State): string {
  return now.runs.input ?? shownPlugin(now)?.sample ?? 'Ada';
}
