import { html, nothing } from 'lit';
import type { TemplateResult } from 'lit';
import type { Failure } from '../../vendor/wire.ts';

/** The message of each kind of failure, where the error has none. */
const labels: Readonly<Record<string, string>> = {
  'plugin-error': 'The plugin threw an error.',
  'time-limit': 'The plugin ran out of time.',
  'memory-limit': 'The plugin ran out of memory.',
  'invalid-input': 'The input is not what a plugin of this kind gets.',
  'invalid-output': 'The output is not what a plugin of this kind gives.',
  'input-limit': 'The input is larger than a plugin may be given.',
  'too-many-requests': 'Too much was running at once; try again.',
  busy: 'The plugin service was busy; try again.',
};

/** Why a run failed, at which line, and what it logged. All of it is the plugin's own text, so none is HTML. */
export function failureView(
  { code, message, path }: Failure,
  logs: readonly string[] | undefined,
): TemplateResult {
  const line = lineOf(message ?? '');
  // The message, where the user may see it, names the place itself.
  const place = message === undefined ? path : undefined;
  return html`
    <p class="problem">
      <code class="code-word">${code}</code> ${firstLine(message) ?? labels[code] ?? 'The plugin failed.'}
      ${place === undefined ? nothing : html`<span class="line">at <code>${place || 'the whole value'}</code></span>`}
      ${line === undefined ? nothing : html`<span class="line">Line ${line}</span>`}
    </p>
    ${logsView(logs)}
  `;
}

export const logsView = (logs: readonly string[] | undefined): TemplateResult | typeof nothing =>
  logs?.length
    ? html`<details class="logs">
        <summary>${logs.length === 1 ? 'One line' : `${logs.length} lines`} of logs</summary>
        <pre tabindex="0">${logs.join('\n')}</pre>
      </details>`
    : nothing;

/** The beginning of a stack frame. */
const FRAME = '    at ';

/** The message without the stack, which begins in the first line or after it. */
function firstLine(message: string | undefined): string | undefined {
  const [first = ''] = message?.split('\n', 1) ?? [];
  return first.split(FRAME, 1)[0]?.trim() || undefined;
}

/** The line of the source in the first frame of the stack. */
const lineOf = (message: string): string | undefined =>
  /:(\d{1,9}):\d/.exec(message.split(FRAME, 2)[1] ?? '')?.[1];
