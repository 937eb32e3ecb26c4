import type { Delivery } from './delivery.ts';
import { change, state } from './state.ts';
import type { Opening } from './state.ts';

/** Takes the time of everything that the page's editor opens. */
export function takeTimes(target: EventTarget): void {
  let begun: { at: number; kind: Opening } | undefined;
  /** What is open, in words that differ when a frame must be made anew. */
  let open: { plugin: string; delivery: Delivery } | undefined;
  const asked = () => ({ plugin: JSON.stringify([state.ident, state.fn]), delivery: state.delivery });

  target.addEventListener('plugin-editor-state', (event) => {
    const { state: now, previous } = event as GlobalEventHandlersEventMap['plugin-editor-state'];
    if (now === 'loading') {
      const { plugin, delivery } = asked();
      const goesOn = previous === 'ready' && open?.delivery === delivery && open.plugin !== plugin;
      begun = { at: performance.now(), kind: goesOn ? 'next' : 'launch' };
    } else if (now !== 'ready') {
      begun = open = undefined;
    }
  });
  target.addEventListener('plugin-editor-ready', (event) => {
    const { confirmed } = event as GlobalEventHandlersEventMap['plugin-editor-ready'];
    if (!confirmed || !begun) return;
    const { at, kind } = begun;
    begun = undefined;
    open = asked();
    const { delivery } = open;
    const taken = { ...state.times[delivery], [kind]: Math.round(performance.now() - at) };
    change({ times: { ...state.times, [delivery]: taken } });
  });
}
