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

/** A refusal by one of the operations above. */
export interface Refusal {
  error: { code: string; message: string };
}
