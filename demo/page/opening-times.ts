import type { Delivery } from './preferences.ts';
import { change, state } from './state.ts';
import type { Opening } from './state.ts';

/** Records how long the editor takes to open each plugin. */
export function recordOpeningTimes(target: EventTarget): void {
  let pending: { at: number; kind: Opening } | undefined;
  /** The plugin that is open. Another delivery needs another frame. */
  let open: { plugin: string; delivery: Delivery } | undefined;
  const requested = () => ({ plugin: JSON.stringify([state.ident, state.fn]), delivery: state.delivery });

  target.addEventListener('plugin-editor-state', (event) => {
    const { state: now, previous } = event as GlobalEventHandlersEventMap['plugin-editor-state'];
    if (now === 'loading') {
      const { plugin, delivery } = requested();
      const goesOn = previous === 'ready' && open?.delivery === delivery && open.plugin !== plugin;
      pending = { at: performance.now(), kind: goesOn ? 'next' : 'launch' };
    } else if (now !== 'ready') {
      pending = open = undefined;
    }
  });
  target.addEventListener('plugin-editor-ready', (event) => {
    const { confirmed } = event as GlobalEventHandlersEventMap['plugin-editor-ready'];
    if (!confirmed || !pending) return;
    const { at, kind } = pending;
    pending = undefined;
    open = requested();
    const { delivery } = open;
    const taken = { ...state.times[delivery], [kind]: Math.round(performance.now() - at) };
    change({ times: { ...state.times, [delivery]: taken } });
  });
}
