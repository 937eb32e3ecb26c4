import type { PluginEntry } from './accounts.ts';

export type { PluginEntry };

// What the vendor's back end and its page say to each other.

/** Answer to somebody who is not signed in: who could be. */
export interface SignedOut {
  users: { id: string; name: string; role: string; tenants: string[] }[];
}

export interface TenantView {
  ident: string;
  name: string;
  plugins: PluginEntry[];
}

/** Answer to somebody who is signed in. */
export interface Session {
  user: { name: string; role: string };
  /** The customers that the user works for. */
  tenants: TenantView[];
  /** A plugin of a customer that the user does not work for, to show that it is refused. */
  stranger: { ident: string; name: string; fn: string } | undefined;
  service: { editorUrl: string; builder: string };
}

/** One run of one deployed version. */
export interface VersionRun {
  version: string;
  /** What it answered; missing when it gave no answer, and then `problem` says why. */
  output?: string;
  problem?: string;
  /** From asking to the answer, in ms. */
  took: number;
}

/** Answer to having a plugin run: its deployed versions with the same input, newest first. */
export interface VersionRuns {
  runs: VersionRun[];
  /** How many older ones there are that were not run. */
  older: number;
}

/** A refusal by one of the operations above. */
export interface Refusal {
  error: { code: string; message: string };
}
