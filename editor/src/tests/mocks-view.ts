import { type TemplateResult, html, nothing } from 'lit/html.js';
import { live } from 'lit/directives/live.js';
import type { CallMock } from 'plugin-editor/client.js';
import { formatNumber } from '../locales/formats.ts';
import { texts } from '../locales/locale.ts';
import { mocksOf } from '../plugin/mocks.ts';
import { withLineFeeds } from '../plugin/source.ts';
import { icon } from '../ui/icon.ts';
import type { TestEntry } from './test-list.ts';
import type { TestsHost } from './tests-panel.ts';

const defaultStatus = 200;

/** The bodies as they were typed, which JSON may not be written as. */
const typedBodies = new WeakMap<CallMock, string>();

function bodyOf(mock: CallMock): string {
  const { body } = mock.response;
  if (body === undefined) return '';
  return typedBodies.get(mock) ?? (typeof body === 'string' ? body : JSON.stringify(body, null, 2));
}

/** A body as typed: an object or an array is JSON, everything else is text. */
function withBody(mock: CallMock, text: string): CallMock {
  const changed = { ...mock, response: { ...mock.response, body: parseBody(text) } };
  typedBodies.set(changed, text);
  return changed;
}

function parseBody(text: string): unknown {
  if (!/^\s*[[{]/.test(text)) return text;
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text;
  }
}

/** The responses to a test's calls, one row each. */
export function mocksView(entry: TestEntry, host: TestsHost): TemplateResult | typeof nothing {
  const { document, types, access, dock } = host;
  const mocks = mocksOf(entry.test);
  if (!mocks.length && !(types.canCall && access.canWrite)) return nothing;
  const words = texts().mocks;
  const set = (changed: readonly CallMock[]) => document.tests.setMocks(entry, changed);
  const add = (mock: CallMock) => {
    set([...mocks, mock]);
    dock.focusTest(entry, '.mock:last-of-type .mock-url');
  };
  // What the last run asked for in vain; each needs a row.
  const missing = (entry.run?.calls ?? []).filter(({ error }) => error === 'call-not-mocked');
  const addMissing = () => {
    set([...mocks, ...missing.map(({ method, url }) => ({ method, url: `${url}*`, response: {} }))]);
    dock.focusTest(entry, `.mock:nth-of-type(${mocks.length + 1}) .mock-body`);
  };
  return html`<fieldset class="mocks" tabindex="-1">
    <legend class="result-label">${words.title}</legend>
    <p class="panel-hint">${words.hint}</p>
    ${
      mocks.length
        ? html`<ol>
            ${mocks.map((mock, index) => mockView(entry, mocks, mock, index, host))}
          </ol>`
        : nothing
    }
    ${
      access.canWrite
        ? html`<div class="panel-actions">
            <button
              type="button"
              class="button quiet mock-add"
              @click=${() => add({ url: '', response: {} })}
            >
              ${icon('add')}${words.add}
            </button>
            ${
              missing.length
                ? html`<button type="button" class="button quiet mock-missing" @click=${addMissing}>
                    ${icon('add')}${words.addMissing(missing.length)}
                  </button>`
                : nothing
            }
          </div>`
        : nothing
    }
  </fieldset>`;
}

function mockView(
  entry: TestEntry,
  mocks: readonly CallMock[],
  mock: CallMock,
  index: number,
  { document: { tests }, access, dock }: TestsHost,
): TemplateResult {
  const words = texts().mocks;
  const replace = (changed: CallMock) => {
    const typed = typedBodies.get(mock);
    if (typed !== undefined && !typedBodies.has(changed)) typedBodies.set(changed, typed);
    tests.setMocks(entry, mocks.with(index, changed));
  };
  const name = (label: string) => words.of(label, formatNumber(index + 1));
  const field = (
    className: string,
    label: string,
    placeholder: string,
    value: string,
    isWrong: boolean,
    write: (value: string) => void,
  ) =>
    html`<input
      class="field ${className}"
      type="text"
      dir="ltr"
      autocomplete="off"
      spellcheck="false"
      placeholder=${placeholder}
      aria-label=${name(label)}
      aria-invalid=${isWrong}
      ?readonly=${!access.canWrite}
      .value=${live(value)}
      @input=${({ currentTarget }: Event) => write((currentTarget as HTMLInputElement).value)}
    />`;
  // The digest is that of the call as it was recorded, not as it is typed.
  const { digest: _digest, ...typed } = mock;
  const writeMethod = (text: string) => {
    const { method: _method, ...rest } = typed;
    replace(text ? { ...rest, method: text } : rest);
  };
  const writeStatus = (text: string) => {
    const { status: _status, ...rest } = mock.response;
    const number = Number(text);
    const isNumber = Number.isInteger(number) && number > 0;
    replace({ ...mock, response: isNumber ? { ...rest, status: number } : rest });
  };
  const { status } = mock.response;
  const isWrongStatus = status !== undefined && !(status >= 200 && status <= 599);
  const remove = () => {
    tests.setMocks(entry, mocks.toSpliced(index, 1));
    dock.focusTest(entry, '.mock-add');
  };
  return html`<li class="mock">
    ${field('mock-method', words.method, words.anyMethod, mock.method ?? '', false, writeMethod)}
    ${field('mock-status', words.status, formatNumber(defaultStatus), String(status ?? ''), isWrongStatus, writeStatus)}
    ${
      access.canWrite
        ? html`<button
            type="button"
            class="button icon-only mock-remove"
            aria-label=${name(words.remove)}
            title=${words.remove}
            @click=${remove}
          >
            ${icon('remove')}
          </button>`
        : nothing
    }
    ${field('mock-url', words.url, words.url, mock.url, !mock.url, (url) => replace({ ...typed, url }))}
    <textarea
      class="field mock-body"
      dir="ltr"
      autocomplete="off"
      spellcheck="false"
      rows="2"
      placeholder=${words.bodyHint}
      aria-label=${name(words.body)}
      ?readonly=${!access.canWrite}
      .value=${live(withLineFeeds(bodyOf(mock)))}
      @input=${({ currentTarget }: Event) => replace(withBody(mock, (currentTarget as HTMLTextAreaElement).value))}
    ></textarea>
  </li>`;
}
