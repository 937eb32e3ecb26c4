/**
 * What an element shows. `idle`: nothing; `loading`: what is asked for is under way; `ready`: it is there; `error`: it cannot
 * be shown, for the reason that the property `error` gives.
 */
export type PluginEditorState = 'idle' | 'loading' | 'ready' | 'error';
