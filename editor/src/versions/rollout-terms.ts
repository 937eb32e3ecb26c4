import { type TemplateResult, html, nothing, render } from 'lit/html.js';
import type { Rollout, RolloutTerms } from 'plugin-editor/client.js';
import { texts } from '../locales/locale.ts';
import { openDialog } from '../ui/dialog.ts';
import type { Rollouts } from './rollouts.ts';

/** What the user has typed of a rollout. Shares of failures are percent. */
export interface TypedTerms {
  percent: number;
  hasStop: boolean;
  runs: number;
  failures: number;
}

/** What is proposed: a small share, which ends as soon as it is clearly worse. */
export const proposedTerms = (): TypedTerms => ({ percent: 10, hasStop: true, runs: 100, failures: 5 });

export const toTerms = ({ percent, hasStop, runs, failures }: TypedTerms): RolloutTerms => ({
  percent,
  ...(hasStop && { stop: { runs, failures: failures / 100 } }),
});

const fromRollout = ({ percent, stop }: Rollout): TypedTerms => ({
  ...proposedTerms(),
  percent,
  hasStop: Boolean(stop),
  ...(stop && { runs: stop.runs, failures: Math.round(stop.failures * 1000) / 10 }),
});

/** The fields of a rollout, in a form. `terms` is changed by what the user types, and `onChange` called where fields come or go. */
export function rolloutFields(terms: TypedTerms, onChange: () => void): TemplateResult {
  const words = texts().rollout;
  const number = (
    name: 'percent' | 'runs' | 'failures',
    label: string,
    { min, max, step = 1 }: { min: number; max: number; step?: number },
  ) =>
    html`<label class="setting">
      <span>${label}</span>
      <input
        class="field"
        type="number"
        required
        name=${name}
        min=${min}
        max=${max}
        step=${step}
        .value=${String(terms[name])}
        @input=${({ currentTarget }: Event) => {
          const { valueAsNumber } = currentTarget as HTMLInputElement;
          if (Number.isFinite(valueAsNumber)) terms[name] = valueAsNumber;
        }}
      />
    </label>`;
  const toggle = ({ currentTarget }: Event) => {
    terms.hasStop = (currentTarget as HTMLInputElement).checked;
    onChange();
  };
  return html`<div class="rollout-fields">
    ${number('percent', words.percent, { min: 1, max: 99 })}
    <label class="setting">
      <input type="checkbox" name="stop" .checked=${terms.hasStop} @change=${toggle} />
      <span>${words.stops}</span>
    </label>
    ${
      terms.hasStop
        ? html`${number('failures', words.stopFailures, { min: 0, max: 100, step: 0.1 })}
          ${number('runs', words.stopRuns, { min: 1, max: 1_000_000 })}`
        : nothing
    }
  </div>`;
}

/** Starts the rollout of a version, or changes the one that runs, with what the user chooses. */
export async function startRollout(rollouts: Rollouts, version: string, live: string): Promise<void> {
  const { running } = rollouts;
  const terms = await askForTerms(version, live, running);
  if (terms) await rollouts.start(version, terms, running);
}

/** Asks for the terms of a rollout. Resolves with `undefined` where the user closes the dialog. */
function askForTerms(
  version: string,
  live: string,
  running: Rollout | undefined,
): Promise<RolloutTerms | undefined> {
  const words = texts().rollout;
  const terms = running ? fromRollout(running) : proposedTerms();
  return openDialog<RolloutTerms>({
    className: 'ask',
    title: running ? words.changeTitle(version) : words.startTitle(version),
    content: (close) => {
      const submit = (event: SubmitEvent) => {
        event.preventDefault();
        close(toTerms(terms));
      };
      return html`<form class="dialog-form" @submit=${submit}>
        <p>${words.explained(version, live)}</p>
        <div class="rollout-terms"></div>
        <footer>
          <button type="button" class="button" @click=${() => close()}>${texts().common.cancel}</button>
          <button type="submit" class="button primary">${running ? words.change : words.start}</button>
        </footer>
      </form>`;
    },
    onOpen: (dialog) => {
      const place = dialog.querySelector<HTMLElement>('.rollout-terms');
      const draw = () => place && render(rolloutFields(terms, draw), place);
      draw();
      queueMicrotask(() => dialog.querySelector<HTMLInputElement>('[name=percent]')?.select());
    },
  });
}
