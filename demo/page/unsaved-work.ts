import { change, state } from './state.ts';
import type { State } from './state.ts';

/** What decides which editor is shown. */
export type Place = Pick<State, 'ident' | 'fn' | 'launched' | 'template' | 'delivery'>;

/** Something was asked for that waits for unsaved work. */
export interface Question {
  /** The plugin that is not saved. */
  fn: string;
  /** Where one was before. */
  back: Place;
}

const place = ({ ident, fn, launched, template, delivery }: State): Place => ({
  ident,
  fn,
  launched,
  template,
  delivery,
});

/** Whether the page still asks for something else than what is open. */
export const isElsewhere = (now: State, { back }: Question): boolean =>
  JSON.stringify(place(now)) !== JSON.stringify(back);

/**
 * Keeps unsaved work from being dropped: the editor stays as it is, the page says so and asks. What was asked for is
 * done by the element itself once the work is saved.
 */
export function guardWork(target: EventTarget): void {
  let open = place(state);
  target.addEventListener('plugin-editor-state', (event) => {
    const { state: now } = event as GlobalEventHandlersEventMap['plugin-editor-state'];
    if (now === 'loading') open = place(state);
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
