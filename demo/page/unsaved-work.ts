import { change, state } from './state.ts';
import type { State } from './state.ts';

/** The part of the state that decides which plugin the editor opens, and how. */
export type EditorChoice = Pick<State, 'ident' | 'fn' | 'launched' | 'template' | 'delivery'>;

/** The user asked for something that waits until unsaved work is saved. */
export interface Question {
  /** The plugin that is not saved. */
  fn: string;
  /** What was shown before. */
  back: EditorChoice;
}

const editorChoice = ({ ident, fn, launched, template, delivery }: State): EditorChoice => ({
  ident,
  fn,
  launched,
  template,
  delivery,
});

/** Whether the page shows something else than the plugin that is open. */
export const isElsewhere = (now: State, { back }: Question): boolean =>
  JSON.stringify(editorChoice(now)) !== JSON.stringify(back);

/**
 * Keeps the editor open while it has unsaved work, and lets the user choose. The element itself does what was asked for once
 * the work is saved.
 */
export function guardUnsavedWork(target: EventTarget): void {
  let open = editorChoice(state);
  target.addEventListener('plugin-editor-state', (event) => {
    const { state: now } = event as GlobalEventHandlersEventMap['plugin-editor-state'];
    if (now === 'loading') open = editorChoice(state);
    change({ question: undefined });
  });
  target.addEventListener('plugin-editor-discard', (event) => {
    event.preventDefault();
    const { fn } = event as GlobalEventHandlersEventMap['plugin-editor-discard'];
    change({ question: { fn, back: open } });
  });
  target.addEventListener('plugin-editor-dirty', (event) => {
    const { dirty } = event as GlobalEventHandlersEventMap['plugin-editor-dirty'];
    if (!dirty) change({ question: undefined });
  });
}
