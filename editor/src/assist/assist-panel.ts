import { type TemplateResult, html, nothing } from 'lit/html.js';
import { guard } from 'lit/directives/guard.js';
import { live } from 'lit/directives/live.js';
import { ref } from 'lit/directives/ref.js';
import { formatNumber } from '../locales/formats.ts';
import { texts } from '../locales/locale.ts';
import { differenceView } from '../pipeline/difference-view.ts';
import { isComposing } from '../ui/commands.ts';
import { icon } from '../ui/icon.ts';
import './assist.css';
import {
  type Check,
  Conversation,
  type Exchange,
  MAX_TESTS,
  type Proposal,
  partsOf,
} from './conversation.ts';
import { type Block, type Part, blocksOf, chunksOf, isPart, textOf } from './parts.ts';

export { Conversation };

/** The panel in which the author asks the assistant. */
export function assistPanel(conversation: Conversation): TemplateResult {
  const { assist, common } = texts();
  const { host, exchanges, isRunning } = conversation;
  const { suggestions } = host.assistance;
  const isEmpty = !conversation.draft.trim();
  const submit = (event: Event) => {
    event.preventDefault();
    if (isRunning) return;
    const prompt = conversation.draft;
    conversation.draft = '';
    void conversation.ask(prompt);
    focusAfter(conversation, event, 'textarea');
  };
  const handleKey = (event: KeyboardEvent) => {
    if (event.key === 'Enter' && !event.shiftKey && !isComposing(event)) submit(event);
  };
  return html`<section class="assist" aria-label=${assist.title} ${ref(conversation.end.watch)}>
    <p class="panel-hint">${assist.hint}</p>
    <div role="log" aria-label=${assist.log} aria-busy=${isRunning}>
      ${exchanges.map((exchange) => exchangeView(conversation, exchange))}
    </div>
    <p class="visually-hidden" role="status">${isRunning ? assist.answering : statusOf(exchanges.at(-1))}</p>
    <form @submit=${submit}>
      ${
        isRunning || !suggestions.length
          ? nothing
          : html`<div class="assist-suggestions">
              ${suggestions.map(
                ({ label, ask }) =>
                  html`<button
                    type="button"
                    class="button"
                    @click=${(event: Event) => {
                      ask();
                      focusAfter(conversation, event, 'textarea');
                    }}
                  >
                    ${label}
                  </button>`,
              )}
            </div>`
      }
      <textarea
        class="field"
        rows="3"
        maxlength="20000"
        dir="auto"
        aria-label=${assist.prompt}
        placeholder=${assist.prompt}
        .value=${live(conversation.draft)}
        @input=${(event: Event) => {
          conversation.draft = (event.target as HTMLTextAreaElement).value;
          host.session.screen.draw();
        }}
        @keydown=${handleKey}
      ></textarea>
      <button
        type="button"
        class="button ${isRunning ? 'stop' : 'primary'}"
        aria-disabled=${!isRunning && isEmpty}
        @click=${(event: Event) => (isRunning ? conversation.stop() : submit(event))}
      >
        ${isRunning ? html`${icon('stop')}${common.stop}` : assist.ask}
      </button>
    </form>
  </section>`;
}

/** Draws, and moves the focus to what takes the place of the button that was pressed. */
function focusAfter({ host }: Conversation, event: Event, selector: string): void {
  const button = event.currentTarget as Element;
  const panel = button.closest('.assist');
  const place = button.closest('.assist-exchange');
  host.session.screen.draw(true);
  const target = place?.querySelector<HTMLElement>(selector) ?? panel?.querySelector<HTMLElement>(selector);
  target?.focus();
}

function statusOf(exchange: Exchange | undefined): string | typeof nothing {
  if (!exchange) return nothing;
  const { answered, stopped } = texts().assist;
  if (exchange.error) return errorText(exchange.error);
  return exchange.state === 'stopped' ? stopped : answered;
}

function exchangeView(conversation: Conversation, exchange: Exchange): TemplateResult {
  const { assist } = texts();
  const { prompt, text, proposal, state, error } = exchange;
  return html`<article class="assist-exchange">
    <p class="assist-prompt">
      <span class="visually-hidden">${assist.you}</span><span class="verbatim" dir="auto">${prompt}</span>
    </p>
    ${guard([exchange, text, state, !proposal, assist], () =>
      blocksOf(text).map((block, index) => blockView(conversation, exchange, block, index)),
    )}
    ${state === 'running' ? html`<p class="panel-hint">${assist.answering}</p>` : nothing}
    ${state === 'stopped' ? html`<p class="panel-hint">${assist.stopped}</p>` : nothing}
    ${error === undefined ? nothing : html`<p class="assist-error">${errorText(error)}</p>`}
    ${proposal ? proposalView(conversation, proposal) : nothing}
  </article>`;
}

function blockView(
  conversation: Conversation,
  exchange: Exchange,
  { kind, text }: Block,
  index: number,
): TemplateResult {
  const { assist } = texts();
  const chunks = chunksOf(text);
  const shown =
    chunks.length > 1 ? chunks.map((chunk) => html`<span class="assist-chunk">${chunk}</span>`) : text;
  if (kind === 'text') return html`<p class="assist-text verbatim" dir="auto">${shown}</p>`;
  const compare = (event: Event) => {
    conversation.propose(exchange, text);
    focusAfter(conversation, event, '.assist-proposal');
  };
  return html`<figure class="assist-code">
    <pre
      class="output"
      tabindex="0"
      dir="ltr"
      role="group"
      aria-label=${assist.code(formatNumber(index + 1))}
    >
${shown}</pre>
    <button
      type="button"
      class="button"
      @click=${() => void navigator.clipboard.writeText(text).catch(() => {})}
    >
      ${assist.copy}
    </button>
    ${
      exchange.state === 'running' || exchange.proposal
        ? nothing
        : html`<button type="button" class="button" @click=${compare}>${assist.apply}</button>`
    }
  </figure>`;
}

function proposalView(conversation: Conversation, proposal: Proposal): TemplateResult {
  const { assist } = texts();
  const { host } = conversation;
  switch (proposal.state) {
    case 'left':
      return html`<p class="panel-hint">${assist.left}</p>`;
    case 'undone':
      return html`<p class="panel-hint">${assist.undone}</p>`;
    case 'taken':
      return takenView(conversation, proposal);
    case 'offered':
  }
  const parts = partsOf(proposal);
  const { check } = proposal;
  const isOutdated = conversation.isOutdated(proposal);
  const isOff = !host.access.canWrite || isOutdated || !check || check.kind === 'checking';
  const take = (event: Event) => {
    if (isOff) return;
    conversation.take(proposal);
    focusAfter(conversation, event, '.assist-undo');
  };
  const leave = (event: Event) => {
    conversation.leave(proposal);
    focusAfter(conversation, event, 'textarea');
  };
  return html`<section class="assist-proposal" tabindex="-1" aria-label=${assist.proposal}>
    <h2>${assist.proposal}</h2>
    ${
      parts.length
        ? parts.map((part) => partView(conversation, proposal, part))
        : html`<p class="panel-hint">${assist.same}</p>`
    }
    <p class="panel-hint" role="status">${parts.length ? checkText(check) : nothing}</p>
    ${isOutdated ? html`<p class="assist-error">${assist.outdated}</p>` : nothing}
    <div class="assist-actions">
      <button type="button" class="button primary" aria-disabled=${isOff} @click=${take}>
        ${assist.take}
      </button>
      <button type="button" class="button" @click=${leave}>${assist.leave}</button>
    </div>
  </section>`;
}

function takenView(conversation: Conversation, proposal: Proposal): TemplateResult {
  const { assist } = texts();
  const { actions, document } = conversation.host;
  const canUndo = conversation.canUndo(proposal);
  const undo = (event: Event) => {
    if (!canUndo) return;
    conversation.undo(proposal);
    focusAfter(conversation, event, 'textarea');
  };
  return html`<p class="panel-hint">${assist.taken}</p>
    <div class="assist-actions">
      <button type="button" class="button assist-undo" aria-disabled=${!canUndo} @click=${undo}>
        ${assist.undo}
      </button>
      ${
        actions.canTest && proposal.after?.tests?.length
          ? html`<button
              type="button"
              class="button"
              @click=${() => void actions.runTests(document.tests.entries)}
            >
              ${assist.runTests}
            </button>`
          : nothing
      }
    </div>`;
}

const shownText = (lines: readonly string[]) => (lines.length ? textOf(lines) : undefined);

function partView(conversation: Conversation, proposal: Proposal, part: Part): TemplateResult {
  const label = labelOf(proposal, part);
  return html`<div class="assist-part">
    <label dir="auto"
      ><input
        type="checkbox"
        .checked=${live(part.isTaken)}
        @change=${(event: Event) =>
          conversation.choose(proposal, part, (event.target as HTMLInputElement).checked)}
      />${label}</label
    >
    ${guard([part, label], () => differenceView(shownText(part.before), shownText(part.after), label))}
  </div>`;
}

function labelOf({ pieces, testsByText }: Proposal, part: Part): string {
  const { assist } = texts();
  const changes = pieces.filter(isPart);
  const number = changes.indexOf(part) + 1;
  if (number) return assist.part(formatNumber(number), formatNumber(changes.length));
  const { before, after } = part;
  if (before.length > 1 || after.length > 1) return assist.allTests;
  const name = testsByText.get(after[0] ?? before[0] ?? '')?.name?.trim() || assist.unnamed;
  if (!before.length) return assist.addTest(name);
  return after.length ? assist.changeTest(name) : assist.removeTest(name);
}

function checkText(check: Check | undefined): string {
  const { assist } = texts();
  if (!check) return assist.notChosen;
  if (check.kind === 'checking') return assist.checking;
  if (check.kind === 'unable') return assist.notChecked;
  if (check.kind === 'builds') return testedText(check);
  const { problems } = check;
  return assist.problems(formatNumber(problems.length), problems[0] ?? '');
}

function testedText({ ended, all, isUnable }: Extract<Check, { kind: 'builds' }>): string {
  const { assist, tests } = texts();
  const judged = ended.filter(({ verdict }) => verdict !== 'ran');
  const failed = ended.flatMap(({ test, verdict }, index) =>
    verdict === 'failed' ? [test.name?.trim() || tests.numbered(formatNumber(index + 1))] : [],
  );
  const [passed, ran] = [judged.length - failed.length, ended.length - judged.length];
  return [
    judged.length ? assist.builds(formatNumber(passed), formatNumber(judged.length)) : assist.buildsAlone,
    ...(failed.length ? [assist.notPassed(namesOf(failed))] : []),
    ...(ran ? [assist.ran(ran)] : []),
    ...(isUnable && all ? [assist.notTested] : []),
    ...(all ? [] : [assist.noTests]),
    ...(ended.length === MAX_TESTS && all > MAX_TESTS ? [assist.firstTests(formatNumber(MAX_TESTS))] : []),
  ].join(' ');
}

const namesOf = (names: readonly string[]): string =>
  [...names.slice(0, 5), ...(names.length > 5 ? ['…'] : [])].join(', ');

/** What went wrong, in plain words: the launcher's codes, or what the page's assistant said. */
function errorText(error: string): string {
  const { errors, failed } = texts().assist;
  return Object.hasOwn(errors, error) ? errors[error as keyof typeof errors] : failed(error);
}
