import { EditorState, type Extension, Facet, type Text, Transaction } from '@codemirror/state';
import { EditorView } from '@codemirror/view';
import { CodeMirror, getCM, vim } from '@replit/codemirror-vim';

/** What `:w` does in a text. */
const saveCommand = Facet.define<() => void, (() => void) | undefined>({ combine: ([save]) => save });

/** The keys of Vim. `save`: what `:w` does. */
export function vimKeys(getView: () => EditorView, save: () => void): Extension {
  // A command is the page's, and not that of one text: it looks up the one that it is typed in.
  CodeMirror.commands.save = ({ cm6 }: { cm6: EditorView }) => cm6.state.facet(saveCommand)?.();
  return [vim({ status: true }), saveCommand.of(save), undoByCommand(() => getCM(getView()))];
}

/** What is read of Vim's state in an editor. */
interface VimState {
  state: { vim?: { insertMode: boolean } | null };
}

/**
 * Makes undo take back a whole command as in Vim: what `ciw` removes and what is typed then, up to Esc or a movement of the cursor.
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
      if (transaction.isUserEvent('input.replace')) {
        // It is no typing: neither what is before it nor what comes after it goes with it.
        before = undefined;
        isJoined = false;
        return transaction;
      }
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
