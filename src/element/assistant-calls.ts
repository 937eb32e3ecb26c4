import type { AssistantProposal } from '../core/assistant.ts';
import { TimeoutError } from '../core/errors.ts';
import { isRecordList, isText } from '../core/untrusted.ts';
import type { EditorMessages } from '../core/messages.ts';
import { withTimeLimit } from '../core/time-limit.ts';
import type { PluginKey } from './events.ts';
import type { Launch } from './launch.ts';

/** How long one answer may take, in ms. Models that reason first say nothing for minutes. */
const MAX_TIME = 300_000;

/**
 * How long one answer may be, in UTF-16 code units of the JSON of its parts, of which each counts as 32 more. An assistant that
 * yields without ever waiting keeps the page from anything else until it has reached this.
 */
const MAX_LENGTH = 2 ** 20;

/** Calls the page's assistant for the editor, one call at a time, and passes its answer on. */
export class AssistantCalls {
  #launch: Launch;
  #call: (AbortController & { request?: string }) | undefined;

  constructor(launch: Launch) {
    this.#launch = launch;
  }

  /** Asks an assistant of any shape, and answers the editor in the session that is open. */
  async start(
    assistant: unknown,
    plugin: PluginKey,
    { request, ...asked }: EditorMessages['assist'],
  ): Promise<void> {
    this.end('assistant-replaced');
    const { signal } = (this.#call = Object.assign(new AbortController(), { request }));
    const post = (type: 'assist-part' | 'assist-end', fields: object) =>
      this.#launch.post({ ...fields, type, request });
    let length = 0;
    const relay = async (limited: AbortSignal) => {
      const answer: unknown =
        typeof assistant === 'function' &&
        assistant({ tests: [], problems: [], failures: [], ...asked, ...plugin, signal: limited });
      // Without this check, text would be taken letter by letter.
      if (!Object(answer)[Symbol.asyncIterator]) throw new Error('assistant-invalid');
      for await (const text of answer as AsyncIterable<unknown>) {
        const { source, tests } = Object(text) as AssistantProposal;
        if (![text, source].some(isText) && !isRecordList(tests)) throw new Error('assistant-invalid');
        const part = isText(text) ? { text } : { source, tests };
        length += JSON.stringify(part).length + 32;
        if (length > MAX_LENGTH) throw new Error('assistant-too-long');
        if (limited.aborted) return;
        post('assist-part', part);
      }
    };
    const error = await withTimeLimit(relay, MAX_TIME, '', signal).catch((thrown: unknown) => {
      if (signal.aborted) return signal.reason as string | null;
      console.error(thrown);
      const { message } = Object(thrown) as Error;
      if (thrown instanceof TimeoutError) return 'assistant-timeout';
      return (isText(message) && message.slice(0, 500).toWellFormed()) || 'assistant-failed';
    });
    // Without a code, the author stopped it. Where it is `null`, its session has ended.
    if (error !== null) post('assist-end', error ? { error } : {});
  }

  /** The author stopped the answer to this request. */
  stop(request: string): void {
    if (request === this.#call?.request) this.end('');
  }

  /** Ends the answer that is awaited, if one is. The editor is told the code, or nothing where its session has ended. */
  end(code: string | null = null): void {
    this.#call?.abort(code);
  }
}
