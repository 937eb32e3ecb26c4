import * as z from 'zod';
import type { CheckedLanguage, PluginTypes } from '../types/declarations.ts';
import { helpRequest, helpResults } from './requests.ts';
import type { HelpMethod, HelpRequest, HelpResult } from './requests.ts';
import { mebibyte } from '../../units.ts';

/** The job that a process of language help is sent, as JSON. */
export interface HelpJob {
  readonly language: CheckedLanguage;
  readonly contents: string;
  readonly types: PluginTypes;
  readonly request: HelpRequest;
}

/** The longest job, in bytes. The service has checked the length of the source, but JSON may escape every character of it. */
export const jobLimit = 6 * mebibyte;

/** How a job ended: with the result of the language server, or with the reason why there is none. */
export type HelpOutcome = { readonly result: HelpResult } | { readonly failed: string };

const failure = z.object({ failed: z.string().max(1000) });

/** Reads the reply of a process. Throws for one that is not a result of this method, or is past the limits. */
export function decodeOutcome(text: string, method: HelpMethod): HelpOutcome {
  const outcome: unknown = JSON.parse(text);
  const failed = failure.safeParse(outcome);
  if (failed.success) return failed.data;
  return { result: helpResults[method].parse((outcome as { result?: unknown } | null)?.result) };
}

/** Reads a job, in the process. Only the request is validated, because only the service sends jobs. */
export function decodeJob(text: string): HelpJob {
  const { request, ...others } = JSON.parse(text) as HelpJob;
  return { ...others, request: helpRequest.parse(request) };
}
