import { type TemplateResult, html, nothing, svg } from 'lit/html.js';
import type { Rollout } from 'plugin-editor/client.js';
import { formatDateTime, formatNumber, formatPercent } from '../locales/formats.ts';
import { texts } from '../locales/locale.ts';
import { visibleText } from '../ui/visible-text.ts';

/** The share of failures that the picture has room for at least, so that a single failure does not look like a disaster. */
const LEAST_SCALE = 0.1;

/** What the user can do about a rollout that runs. */
export interface RolloutActions {
  /** Whether it is being changed or ended. */
  readonly isChanging: boolean;
  /** Whether nothing can be done about it now. */
  readonly isOff: boolean;
  readonly onChange: () => void;
  readonly onEnd: () => void;
  readonly onMakeLive?: () => void;
}

type Side = Rollout['live'];

const rateOf = ({ runs, failures }: Side) => (runs ? failures / runs : 0);

/** A rollout: its share, both rates of failure as a small picture, and how it goes on. */
export function rolloutView(rollout: Rollout, actions: RolloutActions): TemplateResult {
  const words = texts().rollout;
  const { version, percent, runs, failures, live, stop, stopped, startedAt, actor } = rollout;
  const candidate = { version, runs, failures };
  const scale = Math.max(LEAST_SCALE, rateOf(candidate), rateOf(live));
  const at = formatDateTime(new Date(startedAt));
  const share = formatPercent(percent / 100);
  const button = (label: string, run: () => void) =>
    html`<button
      type="button"
      class="button quiet"
      aria-label=${texts().versions.of(label, version)}
      aria-disabled=${actions.isOff}
      @click=${() => actions.isOff || run()}
    >
      ${label}
    </button>`;
  return html`<section class="rollout" aria-label=${words.title} data-state=${stopped ? 'ended' : 'running'}>
    <p class="rollout-share" role="status">
      <strong>${stopped ? words.hadShare(version, share) : words.hasShare(version, share)}</strong
      ><span class="panel-hint">${actor ? words.startedBy(at, visibleText(actor)) : words.started(at)}</span>
    </p>
    <div class="rates">${[candidate, live].map((side) => rateView(side, scale))}</div>
    ${stopped ? html`<p>${endText(rollout)}</p>` : nothing}
    ${
      stop && !stopped
        ? html`<p class="panel-hint">
            ${words.stopsAt(formatNumber(stop.runs), formatPercent(stop.failures))}
          </p>`
        : nothing
    }
    ${
      stopped
        ? nothing
        : html`<div class="history-actions">
              ${button(words.change, actions.onChange)}
              ${actions.onMakeLive ? button(words.makeLive, actions.onMakeLive) : nothing}
              ${button(words.end, actions.onEnd)}
            </div>
            ${actions.isChanging ? waitingNote() : nothing}`
    }
  </section>`;
}

/** Says that a change was asked for and is not made yet. */
export const waitingNote = (): TemplateResult =>
  html`<p class="history-waiting" role="status">${texts().versions.waiting}</p>`;

/** The share of failures of one version: its bar is for the eye, and the text beside it says the same. */
function rateView(side: Side, scale: number): TemplateResult {
  const { version, runs, failures } = side;
  const words = texts().rollout;
  const width = (rateOf(side) / scale) * 100;
  return html`<div class="rate">
    <span class="rate-version">${version}</span>
    <svg class="rate-bar" viewBox="0 0 100 8" preserveAspectRatio="none" aria-hidden="true">
      ${svg`<rect width="100" height="8"></rect><rect class="rate-share" width=${width} height="8"></rect>`}
    </svg>
    <span class="rate-text"
      >${
        runs
          ? words.failed(formatPercent(rateOf(side)), formatNumber(failures), formatNumber(runs))
          : words.noRuns
      }</span
    >
  </div>`;
}

/** When and why a rollout ended. */
function endText({ version, live, stopped }: Rollout): string {
  const words = texts().rollout;
  if (!stopped) return '';
  const at = formatDateTime(new Date(stopped.at));
  switch (stopped.reason) {
    case 'failures':
      return words.endedByFailures(at, version, live.version);
    case 'live-set':
      return words.endedByLive(at);
    default:
      return words.ended(at, live.version);
  }
}
