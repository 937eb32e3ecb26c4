import type {
  Features,
  PluginEditorErrorEvent,
  PluginEditorEventMap,
  PluginEditorStateEvent,
  PluginFeaturesEventMap,
} from 'plugin-editor';
import { change, state } from './state.ts';

/** One event of the elements, as the page shows it. */
export interface LogEntry {
  id: number;
  time: string;
  type: string;
  /** Its fields as text. */
  fields: string;
}

/** Every event of both elements. One that is missing here does not compile. */
const EVENTS: Record<keyof (PluginEditorEventMap & PluginFeaturesEventMap), true> = {
  'plugin-editor-state': true,
  'plugin-editor-ready': true,
  'plugin-editor-plugin': true,
  'plugin-editor-error': true,
  'plugin-editor-expiring': true,
  'plugin-editor-discard': true,
  'plugin-editor-dirty': true,
  'plugin-editor-save': true,
  'plugin-editor-build': true,
  'plugin-editor-test': true,
  'plugin-editor-deploy': true,
  'plugin-editor-live': true,
  'plugin-features-load': true,
  'plugin-features-error': true,
};

/** The names of the events. They bubble, so one listener on the document gets them all. */
export const EVENT_TYPES = Object.keys(EVENTS);

const MAX_ENTRIES = 200;
let nextId = 0;

/** Keeps a log of the elements' events, and the state of the editor that they report. */
export function recordEvents(target: EventTarget): void {
  for (const type of EVENT_TYPES) {
    target.addEventListener(type, (event) => {
      const entry = { id: nextId++, time: timeOf(new Date()), type, fields: fieldsOf(event) };
      change({ log: [...state.log, entry].slice(-MAX_ENTRIES), ...editorStateOf(event) });
    });
  }
}

function editorStateOf(event: Event): Partial<typeof state> {
  switch (event.type) {
    case 'plugin-editor-state': {
      const { state: editorState } = event as PluginEditorStateEvent;
      return { editorState, ...(editorState === 'error' ? {} : { editorError: undefined }) };
    }
    case 'plugin-editor-error':
      return { editorError: (event as PluginEditorErrorEvent).error };
    default:
      return {};
  }
}

/** An event's own fields as text. No event has a token. */
const fieldsOf = (event: Event): string =>
  Object.entries(event)
    .filter(([name]) => name !== 'isTrusted')
    .map(([name, value]) => `${name}: ${formatField(value)}`)
    .join(', ');

function formatField(value: unknown): string {
  if (value instanceof Error) {
    const { code, status, attempts } = value as Partial<{ code: string; status: number; attempts: number }>;
    const details = [
      code ?? value.name,
      ...(status === undefined ? [] : [`status ${status}`]),
      ...(attempts === undefined ? [] : [`attempts ${attempts}`]),
    ];
    return `${details.join(', ')}: ${value.message}`;
  }
  if (isFeatures(value)) {
    const languages = value.languages.map(({ identifier }) => identifier).join(', ');
    return `languages [${languages}], features [${value.features.join(', ')}]`;
  }
  if (value === undefined) return 'none';
  return shortened(typeof value === 'string' ? value : JSON.stringify(value));
}

/** Shortens a text, such as the log of a build. */
const shortened = (text: string) => (text.length > 160 ? `${text.slice(0, 160)}…` : text);

const isFeatures = (value: unknown): value is Features =>
  Array.isArray((value as Partial<Features> | null)?.languages);

const timeOf = (now: Date): string =>
  [now.getHours(), now.getMinutes(), now.getSeconds()]
    .map((part) => String(part).padStart(2, '0'))
    .join(':') + `.${String(now.getMilliseconds()).padStart(3, '0')}`;
