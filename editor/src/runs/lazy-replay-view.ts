import { type TemplateResult, html } from 'lit/html.js';
import { lazyModule } from '../ui/lazy-module.ts';
import type { ReplayHost } from './replay-view.ts';

const replayModule = lazyModule(() => import('./replay-view.ts'));

/** The open plugin, and where a module that cannot be loaded is told of. */
export interface LazyReplayHost extends ReplayHost {
  readonly session: ReplayHost['session'] & {
    readonly notices: { notifyIfMissing: <T>(loading: Promise<T>) => Promise<T | undefined> };
  };
}

/** "Try on real runs". Its module is loaded when it first comes into view; until then the element is empty. */
export function replayView(host: LazyReplayHost, work: object | undefined): TemplateResult {
  if (!replayModule.loaded()) void host.session.notices.notifyIfMissing(replayModule.load());
  return html`<replay-view .host=${host} .work=${work}></replay-view>`;
}
