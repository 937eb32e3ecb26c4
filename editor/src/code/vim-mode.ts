import { Compartment, EditorState, type Extension, Facet, type Text, Transaction } from '@codemirror/state';
import { EditorView } from '@codemirror/view';
import { loadModule } from '../ui/lazy-module.ts';
import { settings } from '../ui/settings.ts';

/** What `:w` does in a text. */
const saveCommand = Facet.define<() => void, (() => void) | undefined>({ combine: ([save]) => save });

/** The keys of Vim, loaded when the user turns them on. */
export class VimMode {
  readonly #getView: () => EditorView;
  readonly #save: () => void;
  readonly #compartment = new Compartment();
  #keys: Extension | undefined;
  #isClosed = false;

  /** @param save what `:w` does */
  constructor(getView: () => EditorView, save: () => void) {
    this.#getView = getView;
    this.#save = save;
  }

  /** It must come before all other keys. */
  extension(): Extension {
    return this.#compartment.of(this.#keys ?? []);
  }

  /** Puts the keys in or takes them out, as the user's settings say. */
  update(): void {
    if (!settings.current.vim) this.#use(undefined);
    else if (!this.#keys) void this.#load();
  }

  close(): void {
    this.#isClosed = true;
  }

  async #load(): Promise<void> {
    // Where they cannot be loaded, the usual keys stay; the next change of a setting tries again.
    const module = await loadModule(() => import('@replit/codemirror-vim')).catch(() => undefined);
    if (module && !this.#isClosed && settings.current.vim) {
      // A command is the page's, and not that of one text: it looks up the one that it is typed in.
      module.CodeMirror.commands.save = ({ cm6 }: { cm6: EditorView }) => cm6.state.facet(saveCommand)?.();
      this.#use([
        module.vim({ status: true }),
        saveCommand.of(this.#save),
        undoByCommand(() => module.getCM(this.#getView())),
      ]);
    }
  }

  #use(keys: Extension | undefined): void {
    if (keys === this.#keys) return;
    this.#keys = keys;
    this.#getView().dispatch({ effects: this.#compartment.reconfigure(keys ?? []) });
  }
}

/** What is read of Vim's state in an editor. */
interface VimState {
  state: { vim?: { insertMode: boolean } | null };
}

/**
 * Has undo take back a whole command as in Vim: what `ciw` removes and what is typed then, up to Esc or a movement of the cursor.
 * CodeMirror's history joins a change with the one before where its event is `input.type.compose`.
 */
function undoByCommand(getVim: () => VimState | null): Extension {
  /** The text before the key that begins insert mode, until the next key. */
  let before: Text | undefined;
  let isJoined = false;
  const isInserting = () => getVim()?.state.vim?.insertMode ?? false;
  return [
    EditorView.domEventObservers({
      keydown: (_, { state: { doc } }) => {
        if (!isInserting()) before = doc;
        else if (before) {
          isJoined = before !== doc;
          before = undefined;
        }
      },
    }),
    EditorState.transactionFilter.of((transaction) => {
      const { docChanged, selection } = transaction;
      if (!isInserting() || before) return transaction;
      if (!docChanged && selection) isJoined = false;
      if (!docChanged || !['input', 'delete'].some((event) => transaction.isUserEvent(event)))
        return transaction;
      const event = isJoined ? 'input.type.compose' : 'input.type.compose.start';
      isJoined = true;
      return [{ annotations: Transaction.userEvent.of(event) }, transaction];
    }),
  ];
}
