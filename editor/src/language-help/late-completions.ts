import {
  type CompletionContext,
  type CompletionResult,
  completionStatus,
  selectedCompletionIndex,
  startCompletion,
} from '@codemirror/autocomplete';
import type { Text } from '@codemirror/state';
import { type EditorView, type PluginValue, ViewPlugin, type ViewUpdate } from '@codemirror/view';
import { SERVER_CANCELLED } from './transport.ts';

export interface CompletionRequest {
  result: Promise<CompletionResult | null>;
  cancel: () => void;
}

/**
 * Asks the service once more for completions that it failed to give, because nothing else would before the next key, and shows
 * what it returns. A list that is open meanwhile, of other sources, is replaced.
 */
class LateCompletions implements PluginValue {
  readonly #view: EditorView;
  #running: CompletionRequest | undefined;
  /** What came, and the text and the place that it is for. */
  #found: { doc: Text; pos: number; result: CompletionResult } | undefined;
  #hasFailedTwice = false;

  constructor(view: EditorView) {
    this.#view = view;
  }

  /** The user goes on, by an edit, by moving the cursor or by closing the list: what was requested is of no use. */
  update({ docChanged, selectionSet, startState, state }: ViewUpdate): void {
    const isClosed = completionStatus(startState) === 'active' && completionStatus(state) === null;
    if (docChanged || selectionSet || isClosed) this.#cancel();
  }

  destroy(): void {
    this.#cancel();
  }

  /** Returns the completions that came for this text and place, once. */
  take({ state, pos }: CompletionContext): CompletionResult | undefined {
    const found = this.#found;
    this.#found = undefined;
    return found?.doc === state.doc && found.pos === pos ? found.result : undefined;
  }

  /** The service gave completions. */
  handleSuccess(): void {
    this.#hasFailedTwice = false;
  }

  /**
   * Sends a second request if it may succeed after this failure of the first one. After a second one that failed, too, there is
   * none until the service has given completions again.
   * @returns whether there is a second request
   */
  retry({ state, pos }: CompletionContext, error: unknown, send: () => CompletionRequest): boolean {
    if (this.#hasFailedTwice || !mayHelpAgain(error)) return false;
    this.#cancel();
    void this.#show(send(), state.doc, pos);
    return true;
  }

  async #show(request: CompletionRequest, doc: Text, pos: number): Promise<void> {
    this.#running = request;
    const result = await request.result.catch((error: unknown) => {
      this.#hasFailedTwice ||= mayHelpAgain(error);
      return null;
    });
    if (this.#running !== request) return;
    this.#running = undefined;
    // A selection that was moved means that the user is choosing among the completions that are shown.
    if (!result || (selectedCompletionIndex(this.#view.state) ?? 0) > 0) return;
    this.#found = { doc, pos, result };
    startCompletion(this.#view);
  }

  #cancel(): void {
    this.#running?.cancel();
    this.#running = undefined;
  }
}

const mayHelpAgain = (error: unknown): boolean =>
  (Object(error) as { code?: unknown }).code === SERVER_CANCELLED;

/** To be installed beside the sources of completions. */
export const lateCompletions = ViewPlugin.fromClass(LateCompletions);
