import type { PluginEditorError } from '../core/errors.ts';
import type { PluginEditorState } from './state.ts';

/** Settles when an element is no longer `loading`; rejects with its error. */
export function whenSettled(
  element: HTMLElement,
  now: { state: PluginEditorState; error: PluginEditorError | undefined },
): Promise<void> {
  return new Promise((resolve, reject) => {
    const check = () => {
      if (now.state === 'loading') return;
      element.removeEventListener('plugin-editor-state', check);
      if (now.error) reject(now.error);
      else resolve();
    };
    element.addEventListener('plugin-editor-state', check);
    check();
  });
}
