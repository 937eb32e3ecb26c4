import * as z from 'zod';
import type { CheckedLanguage, PluginTypes } from '../types/declarations.ts';
import { helpRequest, helpResults } from './requests.ts';
import type { HelpMethod, HelpRequest, HelpResult } from './requests.ts';

/** What a process of language help is asked, as JSON. */
export interface HelpJob {
  readonly language: CheckedLanguage;
  readonly contents: string;
  readonly types: PluginTypes;
  readonly request: HelpRequest;
}

/** The longest question, in bytes: the service has checked the length of the source, which JSON may escape. */
export const jobLimit = 4 * 2 ** 20;

/** How it ended: with what the language server says, or why there is nothing of it. */
export type HelpOutcome = { readonly result: HelpResult } | { readonly failed: string };

const failure = z.object({ failed: z.string().max(1000) });

/** Reads what a process says to a request. Throws for what is not an answer to it, or past the limits. */
export function decodeOutcome(text: string, method: HelpMethod): HelpOutcome {
  const outcome: unknown = JSON.parse(text);
  const failed = failure.safeParse(outcome);
  if (failed.success) return failed.data;
  return { result: helpResults[method].parse((outcome as { result?: unknown } | null)?.result) };
}

/** For the process itself, which is sent nothing by anybody but the service. */
export function decodeJob(text: string): HelpJob {
  const { request, ...others } = JSON.parse(text) as HelpJob;
  return { ...others, request: helpRequest.parse(request) };
}
