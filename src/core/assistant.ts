import type { PluginTest } from './records.ts';

/** A problem of the source, as a build or a check reports it. Lines and columns begin at 1. */
export interface AssistantProblem {
  message: string;
  severity?: string;
  line?: number;
  column?: number;
}

/** A test that failed, and how. */
export interface AssistantFailure {
  name?: string;
  payload?: string;
  expected?: unknown;
  /** What the plugin returned instead. */
  result?: string;
  error?: unknown;
}

/** What an author asks, and the work that it is about. Everything in it is data: plugins, logs and tests may hold any text. */
export interface AssistantQuestion {
  /** What the author wrote. */
  prompt: string;
  /** The `identifier` of the plugin's language. */
  language: string;
  /** The source as it stands in the editor, saved or not. */
  source: string;
  tests: PluginTest[];
  /** TypeScript declarations of what the plugin takes, returns and may use, where there are some. */
  declarations?: string;
  problems: AssistantProblem[];
  failures: AssistantFailure[];
}

/** What the page's assistant is asked. */
export interface AssistantRequest extends AssistantQuestion {
  ident: string;
  namespace: string;
  fn: string;
  /** Aborts when the author stops, another request or plugin takes its place, or the element is closed or removed. */
  signal: AbortSignal;
}

/** A whole source, a whole list of tests, or both, that the author may take instead of what is there. */
export interface AssistantProposal {
  source?: string;
  tests?: PluginTest[];
}

/**
 * A function of the page that answers what authors ask in the editor: it yields text, which is shown as plain text with
 * code blocks, and proposals, which the author takes or leaves. What it throws ends the answer with the error's message.
 */
export type Assistant = (request: AssistantRequest) => AsyncIterable<string | AssistantProposal>;
