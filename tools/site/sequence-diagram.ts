/*
 * Sequence diagrams in the pages are blocks of Mermaid, which GitHub draws by itself. The site draws them while it is built:
 * Mermaid itself needs a browser and would send 5 MB to every reader, and the pages use only these kinds of lines:
 *
 *   sequenceDiagram
 *     participant page as Your page
 *     page->>server: a request
 *     server-->>page: a response
 *     Note over page,server: what is true from here on
 */

interface Step {
  kind: 'request' | 'response' | 'note';
  from: number;
  to: number;
  lines: string[];
}

// Sizes are in pixels, at which a diagram is shown where there is room.
const COLUMN = 162;
/** Half of the width of a participant's box. */
const HALF_BOX = 74;
const LINE_HEIGHT = 17;
/** The height of the row of participants. */
const HEADER_HEIGHT = 44;
/** How many characters of a text fit between two columns. */
const COLUMN_CHARACTERS = 22;

/**
 * A diagram as SVG, in the colours of the page around it.
 * @param label describes the diagram to screen readers
 * @throws Error for a line that is not one of those above
 */
export function sequenceDiagram(source: string, label: string): string {
  const names: string[] = [];
  const titles: string[] = [];
  const steps: Step[] = [];
  const column = (name: string) => {
    const at = names.indexOf(name);
    if (at < 0) throw new Error(`The diagram has no participant ${name}`);
    return at;
  };
  for (const line of source.split('\n').map((one) => one.trim())) {
    if (line === '' || line === 'sequenceDiagram') continue;
    const participant = /^participant (\w+) as (.+)$/.exec(line);
    const message = /^(\w+)(--?)>>(\w+): (.+)$/.exec(line);
    const note = /^Note over (\w+)(?:,(\w+))?: (.+)$/.exec(line);
    if (participant) {
      names.push(participant[1] ?? '');
      titles.push(participant[2] ?? '');
    } else if (message) {
      const [, from = '', dashes, to = '', text = ''] = message;
      const span = Math.max(1, Math.abs(column(from) - column(to)));
      const kind = dashes === '--' ? 'response' : 'request';
      steps.push({
        kind,
        from: column(from),
        to: column(to),
        lines: wrapped(text, COLUMN_CHARACTERS * span),
      });
    } else if (note) {
      const [, first = '', last = first, text = ''] = note;
      const span = column(last) - column(first) + 1;
      steps.push({
        kind: 'note',
        from: column(first),
        to: column(last),
        lines: wrapped(text, COLUMN_CHARACTERS * span),
      });
    } else
      throw new Error(
        `The site cannot draw this line of a diagram: ${line}. The lines that it can draw are in ${import.meta.filename}.`,
      );
  }

  let y = HEADER_HEIGHT + 14;
  const drawn = steps.map((step) => {
    const top = y;
    y += step.lines.length * LINE_HEIGHT + (step.kind === 'note' ? 22 : 20);
    return step.kind === 'note' ? noteAt(step, top) : messageAt(step, top);
  });
  const width = titles.length * COLUMN;
  const heads = titles.map(
    (title, i) => `<line class="life" x1="${middle(i)}" y1="${HEADER_HEIGHT}" x2="${middle(i)}" y2="${y}"/>
<rect class="head" x="${middle(i) - HALF_BOX}" y="6" width="${2 * HALF_BOX}" height="${HEADER_HEIGHT - 6}" rx="6"/>
${textAt(wrapped(title, 20), middle(i), wrapped(title, 20).length > 1 ? 21 : 30)}`,
  );
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${y + 6}" width="${width}" role="img" aria-label="${escaped(label)}">
${[...heads, ...drawn].join('\n')}
</svg>`;
}

const middle = (column: number) => column * COLUMN + COLUMN / 2;

function messageAt({ kind, from, to, lines }: Step, top: number): string {
  const y = top + lines.length * LINE_HEIGHT + 2;
  const [x1, x2] = [middle(from), middle(to)];
  if (x1 === x2) {
    // A message of a participant to itself is drawn as a loop.
    return `${textAt(lines, x1 + 8, top + 12, 'start')}
<path class="${kind}" d="M${x1} ${y - 2}h22v9H${x1 + 6}"/><path class="tip" d="M${x1} ${y + 7}l8 -4v8z"/>`;
  }
  const [back, tip] = x2 > x1 ? [-8, x2 - 6] : [8, x2 + 6];
  return `${textAt(lines, (x1 + x2) / 2, top + 12)}
<path class="${kind}" d="M${x1} ${y}H${tip}"/><path class="tip" d="M${x2} ${y}l${back} -4v8z"/>`;
}

function noteAt({ from, to, lines }: Step, top: number): string {
  const [x1, x2] = [middle(from) - HALF_BOX, middle(to) + HALF_BOX];
  return `<rect class="note" x="${x1}" y="${top}" width="${x2 - x1}" height="${lines.length * LINE_HEIGHT + 8}" rx="3"/>
${textAt(lines, (x1 + x2) / 2, top + 17)}`;
}

const textAt = (lines: string[], x: number, y: number, anchor = 'middle') =>
  lines
    .map(
      (line, i) =>
        `<text x="${x}" y="${y + i * LINE_HEIGHT}" text-anchor="${anchor}">${escaped(line)}</text>`,
    )
    .join('');

function wrapped(text: string, width: number): string[] {
  const lines: string[] = [''];
  for (const word of text.split(' ')) {
    const last = lines.at(-1) ?? '';
    if (last && last.length + 1 + word.length > width) lines.push(word);
    else lines[lines.length - 1] = last ? `${last} ${word}` : word;
  }
  return lines;
}

const escaped = (text: string) =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;').replaceAll('{', '&#123;');
