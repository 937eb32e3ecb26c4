import { type TemplateResult, html, nothing } from 'lit/html.js';
import { texts } from '../locales/locale.ts';
import { differenceView } from '../pipeline/difference-view.ts';
import { stopButton } from '../ui/icon.ts';
import './assist.css';
import { type AssistHost, Conversation, type Exchange, type Proposal } from './conversation.ts';
import { type Block, type Part, blocksOf, isPart } from './parts.ts';

export const createConversation = (host: AssistHost): Conversation => new Conversation(host);

/** The panel in which the author asks the assistant. */
export function assistPanel(conversation: Conversation): TemplateResult {
  const { assist } = texts();
  const { host, exchanges, isRunning } = conversation;
  const { problems, failures, tests } = host.work;
  const suggestions = [
    ...(problems.length ? [assist.explainProblem] : []),
    ...(failures.length ? [assist.passTest] : []),
    ...(tests.length ? [] : [assist.writeTest]),
  ];
  const submit = (event: Event) => {
    event.preventDefault();
    void conversation.ask(conversation.draft);
  };
  const handleKey = (event: KeyboardEvent) => {
    if (event.key === 'Enter' && !event.shiftKey && !event.isComposing) submit(event);
  };
  return html`<section class="assist" aria-label=${assist.title}>
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
                (suggestion) =>
                  html`<button type="button" class="button" @click=${() => void conversation.ask(suggestion)}>
                    ${suggestion}
                  </button>`,
              )}
            </div>`
      }
      <textarea
        class="field"
        rows="3"
        maxlength="20000"
        aria-label=${assist.prompt}
        placeholder=${assist.prompt}
        .value=${conversation.draft}
        @input=${(event: Event) => {
          conversation.draft = (event.target as HTMLTextAreaElement).value;
          host.draw();
        }}
        @keydown=${handleKey}
      ></textarea>
      ${
        isRunning
          ? stopButton(() => conversation.stop())
          : html`<button type="submit" class="button primary" ?disabled=${!conversation.draft.trim()}>
              ${assist.ask}
            </button>`
      }
    </form>
  </section>`;
}

const statusOf = (exchange: Exchange | undefined) =>
  exchange ? (exchange.error ? errorText(exchange.error) : texts().assist.answered) : nothing;

function exchangeView(conversation: Conversation, exchange: Exchange): TemplateResult {
  const { assist } = texts();
  const { prompt, proposal, state, error } = exchange;
  return html`<article class="assist-exchange">
    <p class="assist-prompt verbatim"><span class="visually-hidden">${assist.you}</span>${prompt}</p>
    ${blocksIn(exchange).map((block) => blockView(conversation, exchange, block))}
    ${state === 'running' ? html`<p class="panel-hint">${assist.answering}</p>` : nothing}
    ${state === 'stopped' ? html`<p class="panel-hint">${assist.stopped}</p>` : nothing}
    ${error === undefined ? nothing : html`<p class="assist-error">${errorText(error)}</p>`}
    ${proposal && state !== 'running' ? proposalView(conversation, proposal) : nothing}
  </article>`;
}

function blockView(conversation: Conversation, exchange: Exchange, { kind, text }: Block): TemplateResult {
  const { assist } = texts();
  if (kind === 'text') return html`<p class="assist-text verbatim">${text}</p>`;
  return html`<figure class="assist-code">
    <pre class="output" tabindex="0" dir="ltr">${text}</pre>
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
        : html`<button type="button" class="button" @click=${() => conversation.propose(exchange, text)}>
            ${assist.apply}
          </button>`
    }
  </figure>`;
}

function proposalView(conversation: Conversation, proposal: Proposal): TemplateResult {
  const { assist } = texts();
  const { pieces, tests, state } = proposal;
  const { host } = conversation;
  const parts = [...pieces.filter(isPart), ...(tests ? [tests.part] : [])];
  if (state === 'left') return html`<p class="panel-hint">${assist.left}</p>`;
  if (state === 'undone') return html`<p class="panel-hint">${assist.undone}</p>`;
  if (state === 'taken') {
    return html`<p class="panel-hint">${assist.taken}</p>
      <div class="assist-actions">
        <button
          type="button"
          class="button"
          ?disabled=${!conversation.canUndo(proposal)}
          @click=${() => conversation.undo(proposal)}
        >
          ${assist.undo}
        </button>
        ${
          host.canTest && host.work.tests.length
            ? html`<button type="button" class="button" @click=${() => host.runTests()}>
                ${assist.runTests}
              </button>`
            : nothing
        }
      </div>`;
  }
  const isOutdated = conversation.isOutdated(proposal);
  const partView = (part: Part, index: number) => {
    const label = part === tests?.part ? assist.testsPart : assist.part(index + 1, parts.length);
    return html`<div class="assist-part">
      <label
        ><input
          type="checkbox"
          .checked=${part.isTaken}
          @change=${(event: Event) =>
            conversation.choose(proposal, part, (event.target as HTMLInputElement).checked)}
        />${label}</label
      >
      ${differenceOf(part, label)}
    </div>`;
  };
  return html`<section class="assist-proposal" aria-label=${assist.proposal}>
    <h3>${assist.proposal}</h3>
    ${parts.length ? parts.map(partView) : html`<p class="panel-hint">${assist.same}</p>`}
    <p class="panel-hint" role="status">${checkText(proposal)}</p>
    ${isOutdated ? html`<p class="assist-error">${assist.outdated}</p>` : nothing}
    <div class="assist-actions">
      <button
        type="button"
        class="button primary"
        ?disabled=${!host.canEdit || isOutdated || !parts.some(({ isTaken }) => isTaken)}
        @click=${() => conversation.take(proposal)}
      >
        ${assist.take}
      </button>
      <button type="button" class="button" @click=${() => conversation.leave(proposal)}>
        ${assist.leave}
      </button>
    </div>
  </section>`;
}

/** Differences and blocks, which are the same at each drawing while text streams in. */
const differences = new WeakMap<Part, { label: string; view: TemplateResult }>();
const blocks = new WeakMap<Exchange, { text: string; blocks: readonly Block[] }>();

function differenceOf(part: Part, label: string): TemplateResult {
  const known = differences.get(part);
  if (known?.label === label) return known.view;
  const view = differenceView(part.before.replace(/\n$/, ''), part.after.replace(/\n$/, ''), label);
  differences.set(part, { label, view });
  return view;
}

function blocksIn(exchange: Exchange): readonly Block[] {
  const { text } = exchange;
  const known = blocks.get(exchange);
  if (known?.text === text) return known.blocks;
  const found = blocksOf(text);
  blocks.set(exchange, { text, blocks: found });
  return found;
}

function checkText({ check }: Proposal): string {
  const { assist } = texts();
  if (check === undefined) return assist.notTested;
  if (check === 'running') return assist.checking;
  if (check === 'unable') return assist.notChecked;
  const [first] = check;
  return first === undefined ? assist.builds : assist.problems(check.length, first);
}

/** What went wrong, in plain words: the launcher's codes, or what the page's assistant said. */
function errorText(error: string): string {
  const { errors, failed } = texts().assist;
  return Object.hasOwn(errors, error) ? errors[error as keyof typeof errors] : failed(error);
}
