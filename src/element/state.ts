/** `idle`: nothing to show; `loading`: token or frame under way; `ready`: shown; `error`: `error` says why not. */
export type PluginEditorState = 'idle' | 'loading' | 'ready' | 'error';
