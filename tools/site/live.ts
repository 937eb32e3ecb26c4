import '../../src/index.ts';
import type { PluginEditorElement, PluginEditorEventMap } from '../../src/index.ts';
import { standInOf } from '../../src/testing/in-page.ts';

// The elements that run on the pages which describe them. The editor is the stand-in of `plugin-editor/testing.js`, and on the front
// page the real one with a service worker that plays a recording. The site serves both beside its pages: it needs no service.

/** Which events of the editor are shown. `plugin` would only repeat others, and the token of these pages never expires. */
const SHOWN: Readonly<Record<keyof PluginEditorEventMap, boolean>> = {
  'plugin-editor-state': true,
  'plugin-editor-ready': true,
  'plugin-editor-plugin': false,
  'plugin-editor-error': true,
  'plugin-editor-expiring': false,
  'plugin-editor-discard': true,
  'plugin-editor-dirty': true,
  'plugin-editor-save': true,
  'plugin-editor-build': true,
  'plugin-editor-test': true,
  'plugin-editor-deploy': true,
  'plugin-editor-live': true,
};

/**
 * Shows an element in a place of the page.
 * @param name as in `<!-- live: plugin-editor -->`
 * @param base where the site is on its server, such as `/docs/`
 * @returns a function that removes it
 */
export function showLive(place: HTMLElement, name: string, base: string): () => void {
  const show = shows[name];
  if (!show)
    throw new Error(`There is no live element "${name}"; there are: ${Object.keys(shows).join(', ')}.`);
  show(place, base);
  return () => place.replaceChildren();
}

const shows: Readonly<Record<string, (place: HTMLElement, base: string) => void>> = {
  'plugin-editor': showEditor,
  'plugin-features': showFeatures,
  theming: showTheming,
  try: (place, base) => void showRecorded(place, base),
};

/** Shows the real editor, or a picture of it where the browser has no service workers, as in some private windows. */
async function showRecorded(place: HTMLElement, base: string): Promise<void> {
  try {
    await startWorker(`${base}try/service-worker.js`);
  } catch {
    const note = document.createElement('p');
    note.textContent = 'This browser lets no service worker run here, so the editor cannot be shown.';
    place.replaceChildren(note);
    return;
  }
  const editor = document.createElement('plugin-editor');
  editor.className = 'recorded';
  editor.editorUrl = `${base}try/editor/index.html`;
  editor.builder = location.origin;
  // What `test/docs/record.ts` recorded.
  editor.ident = 'com.example.customer-7';
  editor.namespace = 'prices';
  editor.fn = 'price-rule';
  editor.tokenDelivery = 'message';
  editor.fetchToken = async () => ({ token: 'recorded', expires_in: 900 });
  place.replaceChildren(editor);
}

/** Resolves once the worker answers the pages below its folder. Rejects where the browser runs none. */
async function startWorker(address: string): Promise<void> {
  const registration = await navigator.serviceWorker.register(address);
  const worker = registration.active ?? registration.waiting ?? registration.installing;
  if (!worker) throw new Error('There is no worker.');
  if (worker.state === 'activated') return;
  await new Promise<void>((resolve, reject) => {
    worker.addEventListener('statechange', () => {
      if (worker.state === 'activated') resolve();
      if (worker.state === 'redundant') reject(new Error('The worker could not start.'));
    });
  });
}

function makeEditor(base: string): PluginEditorElement {
  const editor = document.createElement('plugin-editor');
  editor.editorUrl = `${base}stand-in-editor/index.html`;
  editor.builder = serviceAt(base);
  editor.ident = 'com.acme.customer-7';
  editor.fn = 'price-rule';
  editor.tokenDelivery = 'message';
  // Instead of an endpoint, because the site consists of static files.
  editor.fetchToken = async () => ({ token: 'a token that opens nothing', expires_in: 900 });
  return editor;
}

const serviceAt = (base: string) => new URL(`${base}example-service`, location.href).href;

function showEditor(place: HTMLElement, base: string): void {
  const editor = makeEditor(base);
  const log = logOf(
    editor,
    Object.entries(SHOWN).flatMap(([type, isShown]) => (isShown ? [type] : [])),
  );
  const standIn = () => standInOf(editor);
  const controls = row(
    button('Open another plugin', () => {
      editor.fn = editor.fn === 'price-rule' ? 'add-record' : 'price-rule';
    }),
    button('Ask it to save', () => editor.save()),
    button('A build succeeds', () => standIn().build({ succeeded: true, outputLog: '' })),
    button('A deploy', () => standIn().deploy({ version: 'v1.0.0' })),
    button('It cannot go on', () => standIn().fail('The plugin is locked.')),
    button('Reload', () => editor.reload()),
    checkbox('read-only', (on) => (editor.readOnly = on)),
  );
  place.replaceChildren(editor, controls, log);
}

function showFeatures(place: HTMLElement, base: string): void {
  const features = document.createElement('plugin-features');
  features.builder = serviceAt(base);
  const log = logOf(features, ['plugin-features-load', 'plugin-features-error']);
  features.addEventListener('change', () => add(log, `change: ${features.value}`));
  place.replaceChildren(
    features,
    row(
      checkbox('selectable', (on) => (features.selectable = on)),
      button('Refresh', () => features.refresh()),
    ),
    log,
  );
}

function showTheming(place: HTMLElement, base: string): void {
  const editor = makeEditor(base);
  const features = document.createElement('plugin-features');
  features.builder = serviceAt(base);
  features.selectable = true;
  const set = (name: string, value: string) => {
    for (const one of [editor, features]) one.style.setProperty(`--plugin-editor-${name}`, value);
  };
  place.replaceChildren(
    features,
    row(
      input('accent', 'color', '#2f6f4f', (value) => set('accent', value)),
      input('radius', 'range', '0', (value) => set('radius', `${Number(value) / 4}px`)),
      input('height', 'range', '50', (value) => set('height', `${10 + Number(value) / 5}rem`)),
      checkbox('dark', (on) => {
        for (const one of [editor, features]) one.style.colorScheme = on ? 'dark' : 'light';
      }),
      button('Show an error', () => standInOf(editor).fail('The plugin is locked.')),
    ),
    editor,
  );
}

function logOf(element: HTMLElement, types: readonly string[]): HTMLOutputElement {
  const log = document.createElement('output');
  log.tabIndex = 0;
  log.ariaLabel = 'Events of the element';
  for (const type of types) {
    element.addEventListener(type, (event) => {
      const { state, previous, dirty, version, succeeded, error, record } = event as unknown as Record<
        string,
        unknown
      >;
      const fields = {
        state,
        previous,
        dirty,
        version,
        succeeded,
        error: (error as Error | undefined)?.message,
      };
      const text = JSON.stringify(record ?? fields);
      add(log, `${event.type}${text === '{}' ? '' : ` ${text}`}`);
    });
  }
  return log;
}

function add(log: HTMLOutputElement, line: string): void {
  log.append(`${line}\n`);
  log.scrollTop = log.scrollHeight;
}

function row(...parts: HTMLElement[]): HTMLElement {
  const made = document.createElement('div');
  made.className = 'live-controls';
  made.append(...parts);
  return made;
}

function button(text: string, onClick: () => unknown): HTMLButtonElement {
  const made = document.createElement('button');
  made.textContent = text;
  made.type = 'button';
  // A failure is also an event of the element, which the log shows.
  made.addEventListener('click', () => void Promise.resolve(onClick()).catch(() => {}));
  return made;
}

const checkbox = (text: string, onChange: (on: boolean) => void) =>
  input(text, 'checkbox', 'on', (_, { checked }) => onChange(checked));

function input(
  text: string,
  type: string,
  value: string,
  onInput: (value: string, input: HTMLInputElement) => void,
): HTMLLabelElement {
  const made = document.createElement('label');
  const field = Object.assign(document.createElement('input'), { type, value });
  field.addEventListener('input', () => onInput(field.value, field));
  made.append(field, text);
  return made;
}
