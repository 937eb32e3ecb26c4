import { preferredScheme, setScheme } from './colour-scheme.ts';
import { type Colour, contrast, formatColour, luminance, mix, parseColour, parseHex } from './colour.ts';

/** How the page around the editor looks, as it says so; nothing of it is trusted before it is checked. */
export interface Appearance {
  colorScheme?: unknown;
  accent?: unknown;
  background?: unknown;
  color?: unknown;
  border?: unknown;
  font?: unknown;
  radius?: unknown;
}

/** The custom properties of the page that follow from an appearance, and whether it is light or dark where that is said. */
export interface Look {
  scheme: 'light' | 'dark' | undefined;
  properties: ReadonlyMap<string, string>;
}

/** The editor's own colours that a host's have to go with, in light and in dark, as styles/colours.css has them. */
const own = {
  light: {
    editor: '#ffffff',
    surface: '#f6f7f9',
    raised: '#ffffff',
    text: '#1a1e27',
    // Text that keeps its own colour on whatever ground: code, messages, numbers of lines.
    texts: [
      '#565e6d',
      '#197340',
      '#b3261e',
      '#8a5300',
      '#7a2ec9',
      '#176b3a',
      '#a3265a',
      '#9a4310',
      '#586070',
      '#1f55c4',
      '#0a6675',
      '#384152',
      '#4c5566',
      '#646d7d',
    ],
  },
  dark: {
    editor: '#15171c',
    surface: '#1b1e25',
    raised: '#252932',
    text: '#e6e9ef',
    texts: [
      '#a2aab9',
      '#7ed9a2',
      '#ff9a92',
      '#f0bd6a',
      '#c7a6ff',
      '#92d8a8',
      '#ff9fbd',
      '#f2b582',
      '#9aa4b6',
      '#8fbaff',
      '#74d3df',
      '#cdd5e2',
      '#aeb7c6',
      '#8f98aa',
    ],
  },
} as const;

/** What text needs on its ground, and what a line needs to be seen. */
const TEXT = 4.5;
const LINE = 3;

const WHITE: Colour = [255, 255, 255];
const BLACK: Colour = [17, 20, 29];

/** Names of fonts, between commas: letters of any script, digits, spaces, hyphens, quotes. */
const FONT = /^[\p{L}\p{N} ,.'"_-]{1,500}$/u;
const MAX_RADIUS = 16;

/**
 * What of an appearance can be used: values of the expected form only, and colours only where text on them, or in them,
 * can be read. What cannot is left out, and the editor's own takes its place.
 */
export function resolveAppearance(appearance: Appearance, preferred: 'light' | 'dark'): Look {
  const { colorScheme } = appearance;
  const background = parseColour(appearance.background);
  const said = colorScheme === 'light' || colorScheme === 'dark' ? colorScheme : undefined;
  // A page without a word on its scheme shows by its background which one it has.
  const seen = background && (luminance(background) < 0.18 ? 'dark' : 'light');
  const scheme = said ?? seen;
  const base = own[scheme ?? preferred];
  const properties = new Map<string, string>();
  const set = (name: string, colour: Colour) => properties.set(`--${name}`, formatColour(colour));

  let text: Colour = parseHex(base.text);
  let grounds = [base.editor, base.surface, base.raised].map(parseHex);
  const asked = parseColour(appearance.color);
  if (background) {
    const ink = asked && contrast(asked, background) >= TEXT ? asked : text;
    const surface = mix(background, ink, 0.03);
    const hover = mix(background, ink, 0.08);
    const texts = [...base.texts.map(parseHex), ink];
    if (texts.every((one) => [background, surface].every((ground) => contrast(one, ground) >= TEXT))) {
      for (const name of ['editor', 'raised', 'field']) set(name, background);
      set('surface', surface);
      set('hover', hover);
      set('line', mix(background, ink, 0.14));
      set('code-line', surface);
      grounds = [background, surface, hover];
    }
  }
  if (asked && grounds.every((ground) => contrast(asked, ground) >= TEXT)) {
    text = asked;
    set('text', text);
  }

  const accent = parseColour(appearance.accent);
  if (accent) {
    const onAccent = contrast(WHITE, accent) >= contrast(BLACK, accent) ? WHITE : BLACK;
    const hover = mix(accent, onAccent === WHITE ? BLACK : WHITE, 0.12);
    // A button needs a text that can be read; a link, and the line around what has the focus, need it to be text itself.
    if (contrast(onAccent, accent) >= TEXT && contrast(onAccent, hover) >= TEXT) {
      set('accent-fill', accent);
      set('accent-fill-hover', hover);
      set('on-accent', onAccent);
    }
    if (grounds.every((ground) => contrast(accent, ground) >= TEXT)) {
      set('accent', accent);
      const badge = mix(grounds[0] as Colour, accent, 0.1);
      if (contrast(accent, badge) >= TEXT) {
        set('badge', badge);
        set('on-badge', accent);
      }
    }
  }

  const border = parseColour(appearance.border);
  if (border) {
    set('line', border);
    if (grounds.every((ground) => contrast(border, ground) >= LINE)) set('control-line', border);
  }
  const { font, radius } = appearance;
  if (typeof font === 'string' && FONT.test(font)) properties.set('--sans', font);
  const pixels = typeof radius === 'string' ? /^(\d{1,3}(?:\.\d+)?)px$/.exec(radius)?.[1] : undefined;
  if (pixels !== undefined) properties.set('--radius', `${Math.min(MAX_RADIUS, Number(pixels))}px`);
  return { scheme, properties };
}

const NAMES = [
  'editor',
  'raised',
  'field',
  'surface',
  'hover',
  'line',
  'code-line',
  'text',
  'accent',
  'accent-fill',
  'accent-fill-hover',
  'on-accent',
  'badge',
  'on-badge',
  'control-line',
  'sans',
  'radius',
].map((name) => `--${name}`);

let isFollowing = false;
let present: Appearance | undefined;

/** Gives the page the look of the page around it, as far as it can be used; `undefined` is the editor's own look. */
export function applyAppearance(appearance: Appearance | undefined): void {
  present = appearance;
  if (!isFollowing) {
    isFollowing = true;
    // Which of the editor's own colours a host's must go with depends on the system, where the host names no scheme.
    matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => applyAppearance(present));
  }
  const { style } = document.documentElement;
  const look = resolveAppearance(appearance ?? {}, preferredScheme());
  for (const name of NAMES) {
    const value = look.properties.get(name);
    if (value === undefined) style.removeProperty(name);
    else style.setProperty(name, value);
  }
  setScheme(look.scheme);
}
