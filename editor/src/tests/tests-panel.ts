import { type TemplateResult, html, nothing } from 'lit/html.js';
import { live } from 'lit/directives/live.js';
import { repeat } from 'lit/directives/repeat.js';
import { formatNumber, formatDuration } from '../locales/formats.ts';
import { texts } from '../locales/locale.ts';
import { type TestStatus, type Work, countTests } from '../pipeline/work.ts';
import { withLineFeeds } from '../plugin/source.ts';
import { icon } from '../ui/icon.ts';
import { startButton } from '../ui/start-button.ts';
import type { Schemas } from '../types/schema.ts';
import { serviceProblemOf, valueField } from '../types/value-field.ts';
import { mocksView } from './mocks-view.ts';
import { resultView, verdictIcons, verdictTones } from './result-view.ts';
import type { TestEntry, TestField, TestList } from './test-list.ts';
import { expectedOf } from './verdict.ts';

export interface TestsPanelOptions {
  list: TestList;
  work: Work;
  /** The types of the plugin's input and output, where its namespace has any. */
  schemas?: Schemas | undefined;
  /** Whether the service runs plugins. */
  canRun: boolean;
  canEdit: boolean;
  /** Whether plugins of the namespace may make calls. */
  canCall: boolean;
  onRun: (entries: readonly TestEntry[]) => void;
  onStop: () => void;
  /** Have the assistant make a test pass that failed, and write one, where there is an assistant. */
  onPass?: ((entry: TestEntry) => void) | undefined;
  onWrite?: (() => void) | undefined;
  onJump: (line: number, column: number) => void;
  /** The list is to be drawn anew, and then the focus goes to what `selector` finds in the row of the test. */
  onFocus: (entry: TestEntry | undefined, selector: string) => void;
  /** A test was opened or closed. */
  onToggle: () => void;
}

/** The plugin's tests: a list to add to, edit, order, run and remove from. */
export function testsPanel(options: TestsPanelOptions): TemplateResult {
  const { list, work, canRun, canEdit, onRun, onStop, onWrite, onFocus } = options;
  const words = texts().tests;
  const { entries, removed } = list;
  const isRunning = work.action === 'test';
  const runAll = startButton(
    {
      className: 'button quiet',
      content: html`${icon('run')}${words.runAll}`,
      isOff: work.action !== undefined,
      onStart: () => onRun(entries),
    },
    isRunning ? onStop : undefined,
  );
  const add = html`<button
    type="button"
    class="button quiet"
    @click=${() => onFocus(list.add(), '.field.name')}
  >
    ${icon('add')}${words.add}
  </button>`;
  return html`<div class="tests">
    <div class="tests-head">
      <p class="tests-summary" role="status">${summary(options)}</p>
      <div class="tests-actions">
        ${canRun && entries.length ? runAll : nothing}${canEdit ? add : nothing}
      </div>
    </div>
    <div class="tests-note" role="status">
      ${
        removed
          ? html`${words.removed(removed.test.name || words.title)}<button
                type="button"
                class="link undo"
                @click=${() => onFocus(list.putBack(), 'summary')}
              >
                ${texts().common.undo}
              </button>`
          : nothing
      }
    </div>
    <p class="tests-empty" ?hidden=${entries.length > 0}>
      ${words.empty}
      ${
        onWrite
          ? html`<button type="button" class="link" @click=${onWrite}>${texts().assist.writeTest}</button>`
          : nothing
      }
    </p>
    <ol class="tests-list" aria-label=${words.title} ?hidden=${!entries.length}>
      ${repeat(
        entries,
        ({ id }) => id,
        (entry, index) => testView(entry, index, options),
      )}
    </ol>
  </div>`;
}

/** The progress of the tests that run, or how the last ones ended. */
function summary({ list, work }: TestsPanelOptions): string {
  const words = texts().tests;
  const { testing, action } = work;
  if (testing && action === 'test') {
    const { done, all } = testing;
    if (all === 1) return words.runningOne;
    return done ? words.progress(formatNumber(done), formatNumber(all)) : words.running(all);
  }
  const { passed, failed, ran } = countTests(work.tests);
  if (!passed && !failed && !ran) return '';
  const rest = list.entries.length - passed - failed - ran;
  return [
    ...(passed ? [words.passed(passed)] : []),
    ...(failed ? [words.failed(failed)] : []),
    ...(ran ? [words.ran(ran)] : []),
    ...(rest ? [words.notRun(rest)] : []),
  ].join(', ');
}

function testView(entry: TestEntry, index: number, options: TestsPanelOptions): TemplateResult {
  const { list, work, canRun, canEdit, onRun, onStop, onToggle } = options;
  const words = texts().tests;
  const title = list.titleOf(entry);
  const status = list.statusOf(entry, work.sourceKey);
  const toggle = ({ currentTarget }: Event) => {
    const { open } = currentTarget as HTMLDetailsElement;
    if (open === entry.isOpen) return;
    entry.isOpen = open;
    onToggle();
  };
  const areInputsOpen = entry.areInputsOpen ?? !entry.run;
  const toggleInputs = ({ currentTarget }: Event) => {
    const { open } = currentTarget as HTMLDetailsElement;
    if (open === areInputsOpen) return;
    entry.areInputsOpen = open;
    onToggle();
  };
  const runs = entry.isWaiting
    ? html`<button
        type="button"
        class="button icon-only test-run"
        aria-label=${texts().common.stop}
        title=${texts().common.stop}
        @click=${onStop}
      >
        ${icon('stop')}
      </button>`
    : html`<button
        type="button"
        class="button icon-only test-run"
        aria-label=${words.of(words.run, title)}
        title=${words.run}
        aria-disabled=${work.action !== undefined}
        @click=${() => onRun([entry])}
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
        ${entry.isOpen ? resultOf(entry, status, options) : nothing}
        <details class="test-inputs" ?open=${areInputsOpen} @toggle=${toggleInputs}>
          <summary ?hidden=${!entry.run}>${icon('chevron')}${words.inputs}</summary>
          ${field(entry, 'name', words.name, 0, options)}${field(entry, 'description', words.description, 0, options)}
          ${field(entry, 'payload', words.payload, 3, options)}${expectedView(entry, options)}
          ${mocksView(entry, options)}
        </details>
        ${canEdit ? rowActions(entry, index, title, options) : nothing}
      </div>
    </details>
    ${canRun ? runs : nothing}
  </li>`;
}

function rowActions(
  entry: TestEntry,
  index: number,
  title: string,
  { list, onFocus }: TestsPanelOptions,
): TemplateResult {
  const words = texts().tests;
  const move = (by: -1 | 1) => {
    if (!list.move(entry, by)) return;
    const [own, other] = by < 0 ? ['.move-up', '.move-down'] : ['.move-down', '.move-up'];
    // Where the test cannot move further, its button is disabled, and the focus goes to the other one.
    onFocus(entry, `${own}:not(:disabled), ${own}:disabled ~ ${other}, ${other}:has(~ ${own}:disabled)`);
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
    list.remove(entry);
    onFocus(undefined, '.undo');
  };
  return html`<div class="test-actions">
    ${button('move-up', words.moveUp, 'up', index === 0, () => move(-1))}
    ${button('move-down', words.moveDown, 'down', index === list.entries.length - 1, () => move(1))}
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
  { list, schemas, canEdit, onPass, onJump }: TestsPanelOptions,
): TemplateResult | typeof nothing {
  const { run, before, test } = entry;
  if (!run) return nothing;
  const { passTest } = texts().assist;
  const pass =
    onPass && verdict === 'failed'
      ? html`<button
          type="button"
          class="button pass-test"
          aria-label=${texts().tests.of(passTest, list.titleOf(entry))}
          @click=${() => onPass(entry)}
        >
          ${passTest}
        </button>`
      : nothing;
  const result = resultView({
    run,
    before,
    expected: test['expected'],
    staleness: entry.isWaiting ? 'running' : isCurrent ? undefined : 'changed',
    schemas,
    onAccept: canEdit ? (text) => list.accept(entry, text) : undefined,
    onJump,
  });
  return html`${result}${pass}`;
}

function field(
  entry: TestEntry,
  key: TestField,
  label: string,
  rows: number,
  { list, schemas, canEdit }: TestsPanelOptions,
): TemplateResult {
  const id = `test-${entry.id}-${key}`;
  const value = key === 'expected' ? expectedOf(entry.test) : entry.test[key];
  const write = ({ currentTarget }: Event) =>
    list.edit(entry, key, (currentTarget as HTMLInputElement | HTMLTextAreaElement).value);
  if (schemas && rows) {
    // A closed test needs no editor.
    if (!entry.isOpen) return html``;
    return html`<label for=${id}>${label}</label>${valueField({
        id,
        className: key,
        label,
        value: value ?? '',
        schema: key === 'expected' ? schemas.output : schemas.input,
        isReadOnly: !canEdit,
        serviceProblem:
          key === 'payload' ? serviceProblemOf(entry.run, value ?? '', 'invalid-input') : undefined,
        onInput: (text) => list.edit(entry, key, text),
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
            ?readonly=${!canEdit}
            .value=${live(shown)}
            @input=${write}
          ></textarea>`
        : html`<input
            id=${id}
            class="field ${key}"
            type="text"
            autocomplete="off"
            spellcheck="false"
            ?readonly=${!canEdit}
            .value=${live(shown)}
            @input=${write}
          />`
    }`;
}

/** The field of the expected result, or the button that adds one. */
function expectedView(entry: TestEntry, options: TestsPanelOptions): TemplateResult | typeof nothing {
  const { list, canEdit, onFocus } = options;
  const words = texts().tests;
  if (expectedOf(entry.test) === undefined) {
    if (!canEdit) return nothing;
    const add = () => {
      list.edit(entry, 'expected', '');
      onFocus(entry, '.expected:is(.field, json-field)');
    };
    return html`<div class="expected-none">
      <button type="button" class="button quiet" @click=${add}>${icon('add')}${words.expectedAdd}</button>
      <p class="panel-hint">${words.expectedHint}</p>
    </div>`;
  }
  const remove = () => {
    list.edit(entry, 'expected', undefined);
    onFocus(entry, '.expected-none .button');
  };
  return html`${field(entry, 'expected', words.expected, 3, options)}${
    canEdit
      ? html`<button type="button" class="button quiet expected-remove" @click=${remove}>
          ${words.expectedRemove}
        </button>`
      : nothing
  }`;
}
