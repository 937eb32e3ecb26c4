import { loadTypingHelp } from '../code/languages.ts';
import { loadPanels } from '../workspace/load-panels.ts';

/** How long a text waits for the languages and the panels, in ms. A text that is shown without them soon changes its colours. */
const MAX_WAIT = 100;

/** Loads the languages and the panels. Resolves when they are there, or after a moment: on a slow line the text comes first. */
export function waitForTypingHelp(): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, MAX_WAIT);
    // Without them a text can be edited; each text that is opened asks for them again.
    Promise.all([loadTypingHelp(), loadPanels()]).then(
      () => resolve(),
      () => resolve(),
    );
  });
}
