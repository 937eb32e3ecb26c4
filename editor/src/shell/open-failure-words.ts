import type { Failure } from '../service/failure.ts';

/** The words of each failure on a page that could not open its plugin. */
export const openFailureWords: Record<Failure, { title: string; text: string }> = {
  connection: {
    title: 'The plugin service cannot be reached',
    text: 'Check your connection, then try again.',
  },
  service: {
    title: 'The plugin service has a problem',
    text: 'It did not give a usable answer. Nothing of yours is lost; try again in a moment.',
  },
  busy: {
    title: 'The plugin service is busy',
    text: 'It has too much to do at the moment. Nothing of yours is lost; try again in a moment.',
  },
  session: {
    title: 'Your session ended',
    text: 'Open the editor again from the page you came from.',
  },
  forbidden: {
    title: 'You cannot edit this plugin',
    text: 'The editor was opened with access to something else. Open it again from the page you came from.',
  },
  refused: {
    title: 'The plugin service refused to open this plugin',
    text: 'Its address may be wrong. Open the editor again from the page you came from.',
  },
  // The last two are answers to saving; they are here so that every failure has words.
  conflict: { title: 'The plugin was changed elsewhere', text: 'Try again to see its present state.' },
  'too-large': { title: 'The plugin is too large', text: 'The service will not hand it out.' },
};
