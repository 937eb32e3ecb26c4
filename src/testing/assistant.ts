import type { Assistant, AssistantProposal, AssistantRequest } from '../core/assistant.ts';

/** What a scripted assistant answers: texts and proposals in order; an `Error` ends the answer with its message. */
export type ScriptedAnswer = readonly (string | AssistantProposal | Error)[];

/** An assistant for a test, with what it was asked. */
export interface ScriptedAssistant extends Assistant {
  readonly requests: readonly AssistantRequest[];
}

/**
 * Makes an `assistant` that needs no model: it gives one answer after the other, and the last one again and again. Between two
 * parts it waits for nothing, and it ends when its signal aborts.
 */
export function scriptedAssistant(...answers: readonly ScriptedAnswer[]): ScriptedAssistant {
  const requests: AssistantRequest[] = [];
  const assistant = async function* (request: AssistantRequest) {
    const answer = answers[Math.min(requests.length, answers.length - 1)] ?? [];
    requests.push(request);
    for (const part of answer) {
      if (request.signal.aborted) return;
      if (part instanceof Error) throw part;
      yield part;
    }
  };
  return Object.assign(assistant, { requests });
}
