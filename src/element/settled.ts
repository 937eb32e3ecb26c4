import type { PluginEditorError } from '../core/errors.ts';
import type { PluginEditorState } from './state.ts';

/**
 * Resolves when an element is no longer `loading`; rejects with its error if it has one then.
 * @param current the state and the error, which are read after each change
 */
export function whenSettled(
  element: HTMLElement,
  current: { state: PluginEditorState; error: PluginEditorError | undefined },
): Promise<void> {
  return new Promise((resolve, reject) => {
    const check = () => {
      if (current.state === 'loading') return;
      element.removeEventListener('plugin-editor-state', check);
      if (current.error) reject(current.error);
      else resolve();
    };
    element.addEventListener('plugin-editor-state', check);
    check();
  });
}
