/** One bar: how long it took, in ms. */
export interface Bar {
  name: string;
  ms: number;
  /** One of this package's ways, which are drawn in its colour. */
  ours: boolean;
}

/** The bars of one distance; in each panel, a line marks what its first bar reaches. */
export interface Panel {
  heading: string;
  bars: Bar[];
}

export interface Chart {
  title: string;
  /** What was measured and how, for those who cannot see it and below the bars. */
  notes: string[];
  panels: Panel[];
}

const WIDTH = 760;
const MARGIN = 16;
/** Where the bars begin, and where the longest ends; beyond it is its number. */
const START = 236;
const END = WIDTH - 76;
const ROW = 26;
const BAR = 16;
const LINE = 20;

const STYLE = `
  svg { color-scheme: light dark; font: 14px system-ui, sans-serif }
  .ground { fill: #fff } text { fill: #1f2328 } .heading, .title { font-weight: 600 } .title { font-size: 16px }
  .note { font-size: 12px; fill: #59636e } .ours { fill: #0969da } .other { fill: #818b98 } .mark { stroke: #59636e }
  .mark { stroke-dasharray: 3 3 }
  @media (prefers-color-scheme: dark) {
    .ground { fill: #0d1117 } text { fill: #f0f6fc } .note { fill: #9198a1 } .ours { fill: #4493f8 }
    .other { fill: #656c76 } .mark { stroke: #9198a1 }
  }`;

/** The chart as an SVG file that is readable on light and on dark. */
export function drawChart({ title, notes, panels }: Chart): string {
  const longest = Math.max(...panels.flatMap(({ bars }) => bars.map(({ ms }) => ms)));
  const scale = (END - START) / longest;
  const parts: string[] = [];
  let y = MARGIN + LINE;
  parts.push(text(MARGIN, y, title, 'title'));
  for (const { heading, bars } of panels) {
    y += LINE + 12;
    parts.push(text(MARGIN, y, heading, 'heading'));
    y += 10;
    const top = y;
    for (const bar of bars) {
      parts.push(row(bar, y, scale));
      y += ROW;
    }
    const x = round(START + (bars[0]?.ms ?? 0) * scale);
    parts.push(`<line class="mark" x1="${x}" x2="${x}" y1="${top}" y2="${y - (ROW - BAR)}"/>`);
  }
  y += 4;
  for (const note of notes) {
    y += 16;
    parts.push(text(MARGIN, y, note, 'note'));
  }
  const height = y + MARGIN;
  const spoken = panels.map(
    ({ heading, bars }) =>
      `${heading}: ${bars.map(({ name, ms }) => `${name} ${Math.round(ms)} ms`).join(', ')}.`,
  );
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" width="${WIDTH}" height="${height}" role="img" aria-labelledby="title desc">
<title id="title">${escape(title)}</title>
<desc id="desc">${escape([...spoken, ...notes].join(' '))}</desc>
<style>${STYLE}
</style>
<rect class="ground" width="${WIDTH}" height="${height}" rx="6"/>
${parts.join('\n')}
</svg>
`;
}

function row({ name, ms, ours }: Bar, y: number, scale: number): string {
  const length = round(ms * scale);
  const base = y + BAR - 4;
  return [
    text(START - 10, base, name, 'name', 'end'),
    `<rect class="${ours ? 'ours' : 'other'}" x="${START}" y="${y}" width="${length}" height="${BAR}" rx="2"/>`,
    text(START + length + 8, base, `${Math.round(ms)} ms`, 'value'),
  ].join('');
}

const text = (x: number, y: number, content: string, kind: string, anchor = 'start') =>
  `<text class="${kind}" x="${round(x)}" y="${y}" text-anchor="${anchor}">${escape(content)}</text>`;

const round = (value: number) => Math.round(value * 10) / 10;

const escape = (content: string) => content.replace(/[&<>"]/g, (sign) => `&#${sign.codePointAt(0)};`);
