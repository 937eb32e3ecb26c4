import { EVENT_TYPES } from './event-log.ts';
import { looks } from './preferences.ts';
import { currentTenant, shownNamespace, signedInAccount } from './state.ts';
import type { State } from './state.ts';

type Attributes = Record<string, string | undefined>;

/** The attributes of the page's `<plugin-editor>`. Without `ident` and `fn` it is idle. */
export function editorAttributes(state: State) {
  const { launched, ident, fn, template, delivery } = state;
  const byMessage = delivery === 'message';
  const service = signedInAccount(state)?.service;
  return {
    id: 'editor',
    'editor-url': service?.editorUrl,
    builder: service?.builder,
    ident: launched ? ident : undefined,
    namespace: launched ? shownNamespace(state) : undefined,
    fn: launched ? fn : undefined,
    template,
    'token-endpoint': '/plugins/editor-token',
    'token-delivery': byMessage ? delivery : undefined,
    preload: byMessage ? '' : undefined,
  } satisfies Attributes;
}

/** The attributes of the page's `<plugin-features>`. */
export function featuresAttributes(state: State) {
  return {
    builder: signedInAccount(state)?.service.builder,
    for: 'editor',
    value: state.template,
    label: 'Language for a new plugin',
  } satisfies Attributes;
}

/** The HTML and the script that do the same as this page, for copying. */
export function pageSource(state: State): string {
  // Before the launch, the attributes that it will set are shown.
  const launching = { ...state, launched: true };
  return [
    ...(state.fn !== undefined && currentTenant(state)
      ? [element('plugin-features', featuresAttributes(state))]
      : []),
    element('plugin-editor', editorAttributes(launching)),
    `<style>\n${looks[state.look].trim().replaceAll(/^(?=.)/gm, '  ')}\n</style>`,
    `<!-- dist/cdn/plugin-editor.js of the package, from your own site; or, with a bundler, import 'plugin-editor' -->
<script type="module" src="/plugin-editor.js"></script>

<script type="module">
  const editor = document.querySelector('#editor');

  for (const type of [
${EVENT_TYPES.map((type) => `    '${type}',`).join('\n')}
  ]) {
    document.addEventListener(type, (event) => console.log(event));
  }

  // Unsaved work stays; the change is made once it is saved, or by editor.reload({ discard: true }).
  editor.addEventListener('plugin-editor-discard', (event) => event.preventDefault());

  // Before signing out: the editor's frame and token go first.
  document.querySelector('#sign-out')?.addEventListener('click', () => editor.close());
</script>`,
  ].join('\n\n');
}

function element(name: string, attributes: Attributes): string {
  const set = Object.entries(attributes).filter(([, value]) => value !== undefined);
  return `<${name}${set.map(([key, value]) => `\n  ${key}${value ? `="${escape(value)}"` : ''}`).join('')}\n></${name}>`;
}

const escape = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('"', '&quot;');
