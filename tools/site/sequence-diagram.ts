/*
 * Sequence diagrams in the pages are blocks of Mermaid, which GitHub draws by itself. The site draws them while it is built:
 * Mermaid itself needs a browser and brings 5 MB to every reader, and the pages use these few of its lines alone:
 *
 *   sequenceDiagram
 *     participant page as Your page
 *     page->>server: a request
 *     server-->>page: an answer
 *     Note over page,server: what is true from here on
 */

interface Step {
  kind: 'request' | 'answer' | 'note';
  from: number;
  to: number;
  lines: string[];
}

const COLUMN = 162;
/** Half of the width of a participant's box. */
const HALF = 74;
const LINE = 17;
const HEAD = 44;
/** How many characters fit between two columns. */
const WIDTH = 22;

/**
 * A diagram as SVG, in the colours of the page around it.
 * @param label what the diagram shows, for those who do not see it
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
      const kind = dashes === '--' ? 'answer' : 'request';
      steps.push({ kind, from: column(from), to: column(to), lines: wrapped(text, WIDTH * span) });
    } else if (note) {
      const [, first = '', last = first, text = ''] = note;
      const span = column(last) - column(first) + 1;
      steps.push({ kind: 'note', from: column(first), to: column(last), lines: wrapped(text, WIDTH * span) });
    } else throw new Error(`The site draws no such line of a diagram: ${line}`);
  }

  let y = HEAD + 14;
  const drawn = steps.map((step) => {
    const top = y;
    y += step.lines.length * LINE + (step.kind === 'note' ? 22 : 20);
    return step.kind === 'note' ? noteAt(step, top) : messageAt(step, top);
  });
  const width = titles.length * COLUMN;
  const heads = titles.map(
    (title, i) => `<line class="life" x1="${middle(i)}" y1="${HEAD}" x2="${middle(i)}" y2="${y}"/>
<rect class="head" x="${middle(i) - HALF}" y="6" width="${2 * HALF}" height="${HEAD - 6}" rx="6"/>
${textAt(wrapped(title, 20), middle(i), wrapped(title, 20).length > 1 ? 21 : 30)}`,
  );
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${y + 6}" width="${width}" role="img" aria-label="${escaped(label)}">
${[...heads, ...drawn].join('\n')}
</svg>`;
}

const middle = (column: number) => column * COLUMN + COLUMN / 2;

function messageAt({ kind, from, to, lines }: Step, top: number): string {
  const y = top + lines.length * LINE + 2;
  const [x1, x2] = [middle(from), middle(to)];
  if (x1 === x2) {
    // What somebody does without another.
    return `${textAt(lines, x1 + 8, top + 12, 'start')}
<path class="${kind}" d="M${x1} ${y - 2}h22v9H${x1 + 6}"/><path class="tip" d="M${x1} ${y + 7}l8 -4v8z"/>`;
  }
  const [back, tip] = x2 > x1 ? [-8, x2 - 6] : [8, x2 + 6];
  return `${textAt(lines, (x1 + x2) / 2, top + 12)}
<path class="${kind}" d="M${x1} ${y}H${tip}"/><path class="tip" d="M${x2} ${y}l${back} -4v8z"/>`;
}

function noteAt({ from, to, lines }: Step, top: number): string {
  const [x1, x2] = [middle(from) - HALF, middle(to) + HALF];
  return `<rect class="note" x="${x1}" y="${top}" width="${x2 - x1}" height="${lines.length * LINE + 8}" rx="3"/>
${textAt(lines, (x1 + x2) / 2, top + 17)}`;
}

const textAt = (lines: string[], x: number, y: number, anchor = 'middle') =>
  lines
    .map((line, i) => `<text x="${x}" y="${y + i * LINE}" text-anchor="${anchor}">${escaped(line)}</text>`)
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
