// The bodies of the responses of the vendor's back end, for itself and its page.

/** One plugin of a tenant, as the vendor's app knows it: where its source is, only the plugin service knows. */
export interface PluginEntry {
  namespace: string;
  name: string;
  /** When the vendor's app runs it. */
  runs: string;
  /** What it might be run with then, as text: JSON where its namespace has types. */
  sample: string;
  /** What the app shows of its work; missing for a plugin that a customer added. */
  view?: PlaceView | undefined;
}

/** How the app shows a plugin's work. */
export interface PlaceView {
  kind: 'orders' | 'basket' | 'letters';
  title: string;
}

/** The response without a sign-in: the users to choose from. */
export interface SignedOut {
  users: { id: string; name: string; role: string; tenants: string[] }[];
}

export interface TenantView {
  ident: string;
  name: string;
  plugins: PluginEntry[];
}

/** The response while a user is signed in. */
export interface SignedIn {
  user: {
    name: string;
    role: string;
    /** Whether the user may deploy, choose what is live and have plugins run. */
    mayDeploy: boolean;
    /** Whether the user looks after the customers, on the vendor's side. */
    isStaff: boolean;
  };
  /** The customers that the user works for. */
  tenants: TenantView[];
  /** Those that the user worked for and that were deleted. */
  former: { ident: string; name: string }[];
  /** A plugin of a customer that the user does not work for, to show that it is refused. */
  stranger: { ident: string; name: string; namespace: string; fn: string } | undefined;
  service: { editorUrl: string; builder: string };
}

/** What is known of one plugin in a list. */
export interface LiveView {
  name: string;
  /** The `identifier` of its language. */
  lang: string;
  /** The latest run that failed, of those that are still recorded. */
  lastFailure?: { at: string; code: string } | undefined;
  /** The version that runs; `null` where none was deployed. */
  live: string | null;
  /** The version that was deployed last. */
  latest: string | null;
}

/** The plugins of a customer that the plugin service has. */
export interface Overview {
  suspended: boolean;
  plugins: LiveView[];
}

/** A deployed version. Times are ISO 8601. */
export interface VersionView {
  version: string;
  at: string;
  /** Who deployed it. */
  by?: string | undefined;
  /** What they said of it. */
  message?: string | undefined;
  live: boolean;
}

/** Why a run failed. `message` and `logs` are the plugin's own texts, and are not shown to every user. */
export interface Failure {
  code: string;
  message?: string | undefined;
  /** Where the input or the output does not fit the types of its namespace: a JSON Pointer, empty for the whole. */
  path?: string | undefined;
  logs?: readonly string[] | undefined;
}

/** A recorded run. */
export interface RunView {
  id: string;
  at: string;
  version: string;
  /** How long the run alone took, in ms. */
  took: number;
  failure?: Failure | undefined;
  logs?: readonly string[] | undefined;
}

/** A version that gets a share of the runs, and how both sides do. */
export interface RolloutView {
  version: string;
  percent: number;
  runs: number;
  failures: number;
  live: { version: string; runs: number; failures: number };
}

/** One plugin, with its latest versions and runs. */
export interface PluginDetails {
  suspended: boolean;
  live: string | null;
  /** Who made an older version live instead of the newest, and when. */
  pinned?: { at: string; by?: string | undefined } | undefined;
  /** The rollout that runs. */
  rollout?: RolloutView | undefined;
  /** The latest, newest first. */
  versions: VersionView[];
  /** Whether there are older ones. */
  more: boolean;
  /** The latest, newest first. */
  runs: RunView[];
}

/** One of the vendor's customers, as its staff see it. */
export interface CustomerView {
  ident: string;
  name: string;
  state: 'active' | 'suspended' | 'deleted';
  /** How many plugins the plugin service has of it. */
  plugins: number;
}

/** An entry of the audit log. */
export interface AuditView {
  id: string;
  at: string;
  action: string;
  /** Whoever did it, in words. */
  by: string;
  /** What it is about: a customer, a plugin, a version. */
  about: string;
}

/** The vendor's customers, and the latest of what was done, for its staff. */
export interface CustomerList {
  customers: CustomerView[];
  entries: AuditView[];
}

/** A message of the plugin service. */
export interface WebhookView {
  /** Counts the messages. */
  number: number;
  at: string;
  type: string;
  /** What it tells, as text. */
  fields: string;
}

/** The messages after one, and the number of the last of all. */
export interface WebhookMessages {
  messages: WebhookView[];
  last: number;
}

/** How a run of one version ended. */
export interface VersionRun {
  version: string;
  /** The output; missing where the run failed. */
  output?: string | undefined;
  failure?: Failure | undefined;
  /** In ms: of the run alone where the service says it, else from the request to the response. */
  took: number;
}

/** Runs of one version or of several with the same input, newest first. */
export interface VersionRuns {
  runs: VersionRun[];
  /** Whether there are older ones that were not run. */
  more: boolean;
}

/** One value of the app's own, and how the run of the live version with it ended. */
export interface CaseView {
  /** What it is, in words. */
  what: string;
  detail: string;
  /** What the app does without a plugin. */
  without: string;
  /** What the app does with the plugin's output; missing where nothing ran or the run failed, and then it does as without. */
  shown?: { text: string; note?: string | undefined } | undefined;
  failure?: Failure | undefined;
}

/** The work of a plugin. There are no cases for a plugin that a customer added. */
export interface WorkView {
  /** The version that was run; `null` where nothing is live, and so nothing was run. */
  live: string | null;
  cases: CaseView[];
}

/** A refusal by one of the operations above. */
export interface Refusal {
  error: { code: string; message: string };
}
