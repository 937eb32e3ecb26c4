import type { Failure } from '../service/failure.ts';
import type { StatusText } from '../ui/status-line.ts';
import type { SaveState } from './save-queue.ts';

const time = new Intl.DateTimeFormat(undefined, { hour: '2-digit', minute: '2-digit' });

const failed: Record<Failure, string> = {
  connection: 'Not saved: connection lost, retrying',
  service: 'Not saved: the service has a problem, retrying',
  busy: 'Not saved: the service is busy, retrying',
  session: 'Not saved: your session ended',
  forbidden: 'Not saved: you cannot edit this plugin',
  conflict: 'Not saved: changed elsewhere',
  'too-large': 'Not saved: the plugin is too large',
  refused: 'Not saved: the service refused it',
};

/** The status line. */
export function saveWords(state: SaveState): StatusText {
  switch (state.kind) {
    case 'unchanged':
      return { text: 'All changes saved', tone: 'good' };
    case 'new':
      return { text: 'New plugin, not saved yet', tone: 'calm' };
    case 'unsaved':
      return { text: 'Unsaved changes', tone: 'busy' };
    case 'saving':
      return { text: 'Saving…', tone: 'busy' };
    case 'saved':
      return { text: `Saved ${time.format(state.at)}`, tone: 'good' };
    default:
      return { text: failed[state.failure], tone: 'bad' };
  }
}

/** What the user can do about a save that will not succeed by itself. `kept`: whether this browser holds a copy. */
export function failureAdvice(failure: Failure, kept: boolean): string | undefined {
  const where = kept ? 'Your text is kept here and in this browser.' : 'Your text is kept on this page only.';
  switch (failure) {
    case 'session':
      return `Your session ended. ${where} Open the editor again from the page you came from to save it.`;
    case 'forbidden':
      return `The service does not let you save this plugin. ${where} Open the editor again from the page you came from.`;
    case 'too-large':
      return `The service takes no plugin of this size. ${where} Shorten it to save it.`;
    case 'refused':
      return `The service did not take the plugin as it is. ${where} Change it, or try again with Save.`;
    case 'conflict':
      return `This plugin was changed elsewhere, perhaps in another tab. ${where} Compare the two versions and choose one.`;
    default:
      // Passing by itself, the status line is enough, unless closing the page would lose the text.
      return kept
        ? undefined
        : 'This browser cannot keep a copy. Leave this page open until the text is saved.';
  }
}
