import { type TemplateResult, html, nothing } from 'lit/html.js';
import { live } from 'lit/directives/live.js';
import { repeat } from 'lit/directives/repeat.js';
import type { CodeEditor } from '../code/code-editor.ts';
import { formatNumber, formatDuration } from '../locales/formats.ts';
import { texts } from '../locales/locale.ts';
import type { Pipeline } from '../pipeline/pipeline.ts';
import { type TestStatus, type Work, countTests } from '../pipeline/work.ts';
import { withLineFeeds } from '../plugin/source.ts';
import { icon } from '../ui/icon.ts';
import type { Screen } from '../ui/screen.ts';
import { startButton } from '../ui/start-button.ts';
import type { Schemas } from '../types/schema.ts';
import { serviceProblemOf, valueField } from '../types/value-field.ts';
import { mocksView } from './mocks-view.ts';
import { resultView, verdictIcons, verdictTones } from './result-view.ts';
import type { TestEntry, TestField, TestList } from './test-list.ts';
import { expectedOf } from './verdict.ts';

/** The open plugin, as far as the panel shows and changes it. */
export interface TestsHost {
  readonly session: { readonly screen: Pick<Screen, 'draw'> };
  readonly access: { readonly canWrite: boolean };
  readonly document: { readonly tests: TestList; readonly editor: Pick<CodeEditor, 'goTo'> };
  readonly types: {
    /** The types of the plugin's input and output, where its namespace has any. */
    readonly schemas: Schemas | undefined;
    /** Whether plugins of the namespace may make calls. */
    readonly canCall: boolean;
  };
  readonly actions: {
    readonly canTest: boolean;
    readonly pipeline: Pick<Pipeline, 'stop'>;
    runTests: (entries: readonly TestEntry[]) => Promise<void>;
  };
  readonly assistance: {
    readonly isOffered: boolean;
    passTest: (entry: TestEntry) => Promise<void>;
    writeTest: () => Promise<void>;
  };
  readonly dock: { focusTest: (entry: TestEntry | undefined, selector: string) => void };
}

/** Whether the assistant may be asked for a change. */
const canAsk = ({ assistance, access }: TestsHost): boolean => assistance.isOffered && access.canWrite;

/** The plugin's tests: a list to add to, edit, order, run and remove from. */
export function testsPanel(host: TestsHost, work: Work): TemplateResult {
  const { document, access, actions, assistance, dock } = host;
  const words = texts().tests;
  const { tests } = document;
  const { entries, removed } = tests;
  const isRunning = work.action === 'test';
  const runAll = startButton(
    {
      className: 'button quiet',
      content: html`${icon('run')}${words.runAll}`,
      isOff: work.action !== undefined,
      onStart: () => void actions.runTests(entries),
    },
    isRunning ? () => actions.pipeline.stop() : undefined,
  );
  const add = html`<button
    type="button"
    class="button quiet"
    @click=${() => dock.focusTest(tests.add(), '.field.name')}
  >
    ${icon('add')}${words.add}
  </button>`;
  return html`<div class="tests">
    <div class="tests-head">
      <p class="tests-summary" role="status">${summary(entries.length, work)}</p>
      <div class="tests-actions">
        ${actions.canTest && entries.length ? runAll : nothing}${access.canWrite ? add : nothing}
      </div>
    </div>
    <div class="tests-note" role="status">
      ${
        removed
          ? html`${words.removed(removed.test.name || words.title)}<button
                type="button"
                class="link undo"
                @click=${() => dock.focusTest(tests.putBack(), 'summary')}
              >
                ${texts().common.undo}
              </button>`
          : nothing
      }
    </div>
    <p class="tests-empty" ?hidden=${entries.length > 0}>
      ${words.empty}
      ${
        canAsk(host)
          ? html`<button type="button" class="link" @click=${() => void assistance.writeTest()}>
              ${texts().assist.writeTest}
            </button>`
          : nothing
      }
    </p>
    <ol class="tests-list" aria-label=${words.title} ?hidden=${!entries.length}>
      ${repeat(
        entries,
        ({ id }) => id,
        (entry, index) => testView(entry, index, host, work),
      )}
    </ol>
  </div>`;
}

/** The progress of the tests that run, or how the last ones ended. */
function summary(count: number, work: Work): string {
  const words = texts().tests;
  const { testing, action } = work;
  if (testing && action === 'test') {
    const { done, all } = testing;
    if (all === 1) return words.runningOne;
    return done ? words.progress(formatNumber(done), formatNumber(all)) : words.running(all);
  }
  const { passed, failed, ran } = countTests(work.tests);
  if (!passed && !failed && !ran) return '';
  const rest = count - passed - failed - ran;
  return [
    ...(passed ? [words.passed(passed)] : []),
    ...(failed ? [words.failed(failed)] : []),
    ...(ran ? [words.ran(ran)] : []),
    ...(rest ? [words.notRun(rest)] : []),
  ].join(', ');
}

function testView(entry: TestEntry, index: number, host: TestsHost, work: Work): TemplateResult {
  const { session, document, access, actions } = host;
  const words = texts().tests;
  const title = document.tests.titleOf(entry);
  const status = document.tests.statusOf(entry, work.sourceKey);
  const toggle = ({ currentTarget }: Event) => {
    const { open } = currentTarget as HTMLDetailsElement;
    if (open === entry.isOpen) return;
    entry.isOpen = open;
    session.screen.draw();
  };
  const areInputsOpen = entry.areInputsOpen ?? !entry.run;
  const toggleInputs = ({ currentTarget }: Event) => {
    const { open } = currentTarget as HTMLDetailsElement;
    if (open === areInputsOpen) return;
    entry.areInputsOpen = open;
    session.screen.draw();
  };
  const runs = entry.isWaiting
    ? html`<button
        type="button"
        class="button icon-only test-run"
        aria-label=${texts().common.stop}
        title=${texts().common.stop}
        @click=${() => actions.pipeline.stop()}
      >
        ${icon('stop')}
      </button>`
    : html`<button
        type="button"
        class="button icon-only test-run"
        aria-label=${words.of(words.run, title)}
        title=${words.run}
        aria-disabled=${work.action !== undefined}
        @click=${() => void actions.runTests([entry])}
      >
        ${icon('run')}
      </button>`;
  return html`<li class="test-row" data-id=${entry.id}>
    <details class="entry test" ?open=${entry.isOpen} @toggle=${toggle}>
      <summary>
        ${icon('chevron')}<span class="test-title" dir="auto" title=${title}>${title}</span
        ><span class="entry-hint" dir="auto">${entry.test.description ?? ''}</span
        >${outcomeView(entry, status)}
      </summary>
      <div class="entry-fields">
        ${entry.isOpen ? resultOf(entry, status, host) : nothing}
        <details class="test-inputs" ?open=${areInputsOpen} @toggle=${toggleInputs}>
          <summary ?hidden=${!entry.run}>${icon('chevron')}${words.inputs}</summary>
          ${field(entry, 'name', words.name, 0, host)}${field(entry, 'description', words.description, 0, host)}
          ${field(entry, 'payload', words.payload, 3, host)}${expectedView(entry, host)}
          ${mocksView(entry, host)}
        </details>
        ${access.canWrite ? rowActions(entry, index, title, host) : nothing}
      </div>
    </details>
    ${actions.canTest ? runs : nothing}
  </li>`;
}

function rowActions(
  entry: TestEntry,
  index: number,
  title: string,
  { document: { tests }, dock }: TestsHost,
): TemplateResult {
  const words = texts().tests;
  const move = (by: -1 | 1) => {
    if (!tests.move(entry, by)) return;
    const [own, other] = by < 0 ? ['.move-up', '.move-down'] : ['.move-down', '.move-up'];
    // Where the test cannot move further, its button is disabled, and the focus goes to the other one.
    dock.focusTest(
      entry,
      `${own}:not(:disabled), ${own}:disabled ~ ${other}, ${other}:has(~ ${own}:disabled)`,
    );
  };
  const button = (
    className: string,
    verb: string,
    sign: 'up' | 'down' | 'remove',
    isOff: boolean,
    run: () => void,
  ) =>
    html`<button
      type="button"
      class="button icon-only ${className}"
      aria-label=${words.of(verb, title)}
      title=${verb}
      ?disabled=${isOff}
      @click=${run}
    >
      ${icon(sign)}
    </button>`;
  const remove = () => {
    tests.remove(entry);
    dock.focusTest(undefined, '.undo');
  };
  return html`<div class="test-actions">
    ${button('move-up', words.moveUp, 'up', index === 0, () => move(-1))}
    ${button('move-down', words.moveDown, 'down', index === tests.entries.length - 1, () => move(1))}
    ${button('remove', words.remove, 'remove', false, remove)}
  </div>`;
}

/** The part of a closed row that says how the test ended. */
function outcomeView(entry: TestEntry, { verdict, isCurrent }: TestStatus): TemplateResult {
  const words = texts();
  if (entry.isWaiting)
    return html`<span class="entry-outcome" data-tone="busy" title=${words.tests.waiting}>…</span>`;
  if (!entry.run || verdict === 'none') return html`<span class="entry-outcome"></span>`;
  const said = words.result[verdict];
  const took = formatDuration(entry.run.took);
  return html`<span
    class="entry-outcome"
    data-tone=${isCurrent ? verdictTones[verdict] : 'stale'}
    title=${isCurrent ? said : words.tests.beforeChange(said)}
    >${icon(verdictIcons[verdict])}<span>${said}</span> <span class="entry-time">${took}</span></span
  >`;
}

function resultOf(
  entry: TestEntry,
  { isCurrent, verdict }: TestStatus,
  host: TestsHost,
): TemplateResult | typeof nothing {
  const { document, access, types, assistance } = host;
  const { run, before, test } = entry;
  if (!run) return nothing;
  const { passTest } = texts().assist;
  const pass =
    canAsk(host) && verdict === 'failed'
      ? html`<button
          type="button"
          class="button pass-test"
          aria-label=${texts().tests.of(passTest, document.tests.titleOf(entry))}
          @click=${() => void assistance.passTest(entry)}
        >
          ${passTest}
        </button>`
      : nothing;
  const result = resultView({
    run,
    before,
    expected: test['expected'],
    staleness: entry.isWaiting ? 'running' : isCurrent ? undefined : 'changed',
    schemas: types.schemas,
    onAccept: access.canWrite ? (text) => document.tests.accept(entry, text) : undefined,
    onJump: (line, column) => document.editor.goTo(line, column),
  });
  return html`${result}${pass}`;
}

function field(
  entry: TestEntry,
  key: TestField,
  label: string,
  rows: number,
  { document: { tests }, types: { schemas }, access }: TestsHost,
): TemplateResult {
  const id = `test-${entry.id}-${key}`;
  const value = key === 'expected' ? expectedOf(entry.test) : entry.test[key];
  const write = ({ currentTarget }: Event) =>
    tests.edit(entry, key, (currentTarget as HTMLInputElement | HTMLTextAreaElement).value);
  if (schemas && rows) {
    // A closed test needs no editor.
    if (!entry.isOpen) return html``;
    return html`<label for=${id}>${label}</label>${valueField({
        id,
        className: key,
        label,
        value: value ?? '',
        schema: key === 'expected' ? schemas.output : schemas.input,
        isReadOnly: !access.canWrite,
        serviceProblem: key === 'payload' ? serviceProblemOf(entry.run, value ?? '') : undefined,
        onInput: (text) => tests.edit(entry, key, text),
      })}`;
  }
  // A form field turns each line break into `\n`; only compared in that form is an unchanged text left alone.
  const shown = withLineFeeds(value ?? '');
  return html`<label for=${id}>${label}</label>${
      rows
        ? html`<textarea
            id=${id}
            class="field ${key}"
            dir="ltr"
            autocomplete="off"
            spellcheck="false"
            rows=${rows}
            ?readonly=${!access.canWrite}
            .value=${live(shown)}
            @input=${write}
          ></textarea>`
        : html`<input
            id=${id}
            class="field ${key}"
            type="text"
            autocomplete="off"
            spellcheck="false"
            ?readonly=${!access.canWrite}
            .value=${live(shown)}
            @input=${write}
          />`
    }`;
}

/** The field of the expected result, or the button that adds one. */
function expectedView(entry: TestEntry, host: TestsHost): TemplateResult | typeof nothing {
  const { document, access, dock } = host;
  const words = texts().tests;
  if (expectedOf(entry.test) === undefined) {
    if (!access.canWrite) return nothing;
    const add = () => {
      document.tests.edit(entry, 'expected', '');
      dock.focusTest(entry, '.expected:is(.field, json-field)');
    };
    return html`<div class="expected-none">
      <button type="button" class="button quiet" @click=${add}>${icon('add')}${words.expectedAdd}</button>
      <p class="panel-hint">${words.expectedHint}</p>
    </div>`;
  }
  const remove = () => {
    document.tests.edit(entry, 'expected', undefined);
    dock.focusTest(entry, '.expected-none .button');
  };
  return html`${field(entry, 'expected', words.expected, 3, host)}${
    access.canWrite
      ? html`<button type="button" class="button quiet expected-remove" @click=${remove}>
          ${words.expectedRemove}
        </button>`
      : nothing
  }`;
}
