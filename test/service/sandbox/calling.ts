import { loadedProgram } from '../../../service/src/plugins/program.ts';
import type { LoggedOutcome } from '../../../service/src/sandbox/outcome.ts';
import type { CallResult, GuestRequest } from '../../../service/src/sandbox/run-calls.ts';
import type { Sandbox } from '../../../service/src/sandbox/sandbox.ts';
import { sharedToolProcesses } from '../tool-processes.ts';

export const { sandbox } = sharedToolProcesses();

export const encoder = new TextEncoder();

export const response = (body: string, more: object = {}): CallResult => ({
  response: {
    status: 200,
    statusText: 'OK',
    url: 'https://a.example/',
    headers: [],
    body: encoder.encode(body),
    ...more,
  },
});

/** A server of this process: it answers when it is told to. */
export function upstream() {
  const requests: GuestRequest[] = [];
  const waiting: { request: GuestRequest; answer: (result: CallResult) => void; signal: AbortSignal }[] = [];
  let arrived = () => {};
  return {
    requests,
    waiting,
    caller: {
      call: (request: GuestRequest, signal: AbortSignal) =>
        new Promise<CallResult>((answer, reject) => {
          requests.push(request);
          waiting.push({ request, answer, signal });
          signal.addEventListener('abort', () => reject(new Error('aborted')));
          arrived();
        }),
    },
    /** Resolves once `count` calls have come. */
    come: async (count: number) => {
      while (requests.length < count) await new Promise<void>((resolve) => (arrived = resolve));
    },
  };
}

/** Answers each call at once, with what the function gives. */
export const answering = (answer: (request: GuestRequest) => CallResult | string) => ({
  call: async (request: GuestRequest) => {
    const given = answer(request);
    return typeof given === 'string' ? response(given) : given;
  },
});

export const begin = (
  code: string,
  caller: Parameters<Sandbox['run']>[0]['caller'],
  more: object = {},
  by = sandbox,
) =>
  by.runAndMeasure({
    program: loadedProgram({ kind: 'script', code, file: 'plugin.js' }),
    input: 'in',
    owner: { environment: 'com.acme', tenant: 't1', token: '' },
    caller,
    ...more,
  });

export const asyncRun = (body: string) => `export async function run(input) {\n${body}\n}`;

export const show = (outcome: LoggedOutcome) =>
  'result' in outcome ? outcome.result : `${outcome.error.code}: ${outcome.error.message}`;
