/**
 * The script of the stand-in editor's page. It is bundled into `plugin-editor/testing.js` as text, and speaks the frame
 * protocol by the same module as a real editor.
 */
import { connectLauncher, type PluginToOpen } from '../editor.ts';
import type { AssistantAnswer, OpenedPlugin, StandInCommands, StandInSettings } from './commands.ts';

declare global {
  interface Window {
    /** The commands by which a test drives this page. */
    standIn: StandInCommands;
    /** Set by the page itself, from the settings of the test. */
    standInSettings: StandInSettings;
  }
}

const { openError, language, exists, permissions } = window.standInSettings;

const element = (id: string) => document.getElementById(id)!;
const text = element('text') as HTMLTextAreaElement;

let opened: OpenedPlugin | undefined;
let isDirty = false;
let saveError: string | undefined;

const show = () => {
  element('plugin').textContent = opened ? `${opened.ident} ${opened.namespace} ${opened.fn}` : '';
  element('state').textContent = !opened ? 'Closed' : isDirty ? 'Not saved' : 'Saved';
  document.documentElement.lang = opened?.locale ?? '';
  text.readOnly = opened?.readOnly === true;
};

const setDirty = (dirty: boolean) => {
  isDirty = dirty;
  launcher?.dirty(dirty);
  show();
};

/** The languages of the plugins that were saved, by plugin. These have a draft when they are opened again. */
const saved = new Map<string, string>();

const keyOf = ({ ident, namespace, fn }: PluginToOpen) => JSON.stringify([ident, namespace, fn]);

const save = () => {
  if (saveError !== undefined) throw new Error(saveError);
  setDirty(false);
  launcher?.save();
  if (!opened || opened.exists) return;
  opened.exists = true;
  saved.set(keyOf(opened), opened.language);
  launcher?.ready(opened);
};

const open = (plugin: PluginToOpen) => {
  const draft = saved.get(keyOf(plugin));
  isDirty = false;
  opened = {
    ...plugin,
    language: draft ?? plugin.template ?? plugin.initialSource?.lang ?? language,
    exists: exists || draft !== undefined,
    permissions,
  };
  text.value = (!opened.exists && plugin.initialSource?.contents) || '';
  show();
  return opened;
};

const launcher = connectLauncher({
  capabilities: ['open', 'assist'],
  onOpen: (plugin, channel) => {
    if (openError !== undefined) throw new Error(openError);
    channel.ready(open(plugin));
  },
  onToken: ({ token }) => {
    if (opened) opened.token = token;
  },
  onClose: () => {
    opened = undefined;
    isDirty = false;
    show();
  },
  onSave: async () => save(),
  onConfigure: (changes) => {
    if (!opened) return;
    Object.assign(opened, changes);
    show();
  },
});

text.addEventListener('input', () => setDirty(true));
element('save').addEventListener('click', save);
show();

window.standIn = {
  plugin: () => opened,
  dirty: (dirty = true) => setDirty(dirty),
  save,
  refuseSaves: (message) => {
    saveError = message;
  },
  build: (build) => launcher?.build({ succeeded: true, outputLog: '', ...build }),
  test: (result) => launcher?.test(result),
  deploy: (deployed) => launcher?.deploy({ version: 'v1.0.0', ...deployed }),
  live: (version) => launcher?.live({ version }),
  fail: (message) => launcher?.error(message),
  assist: async (question, { stopAfter = Infinity } = {}) => {
    const answer: AssistantAnswer = { text: '' };
    const asked = {
      prompt: '',
      language: opened?.language ?? language,
      source: text.value,
      tests: [],
      problems: [],
      failures: [],
      ...question,
    };
    try {
      if (!launcher) throw new Error('closed');
      let count = 0;
      for await (const { text: more = '', ...proposal } of launcher.assist(asked)) {
        answer.text += more;
        Object.assign(answer, proposal);
        if (++count >= stopAfter) break;
      }
    } catch (error) {
      answer.error = (error as Error).message;
    }
    return answer;
  },
  requestToken: async (reason = 'expired') => (await launcher?.requestToken(reason))?.token,
};
