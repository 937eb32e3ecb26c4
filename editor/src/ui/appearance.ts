import { preferredScheme, setScheme } from './colour-scheme.ts';
import { type Colour, contrast, formatColour, luminance, mix, parseColour, parseHex } from './colour.ts';

/** The appearance that the page around the editor asks for. Nothing of it is checked yet. */
export interface Appearance {
  colorScheme?: unknown;
  accent?: unknown;
  background?: unknown;
  color?: unknown;
  border?: unknown;
  font?: unknown;
  radius?: unknown;
}

/** The custom properties that a host's appearance can set, without their dashes. */
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
] as const;

type PropertyName = (typeof NAMES)[number];

/** The custom properties that an appearance sets, and its colour scheme, where it has one. */
export interface ResolvedAppearance {
  scheme: 'light' | 'dark' | undefined;
  properties: ReadonlyMap<`--${PropertyName}`, string>;
}

const hexes = (list: string): readonly string[] => list.split(' ');

/** The editor's own colours that are shown together with a host's, as styles/colours.css has them. */
const own = {
  light: {
    editor: '#ffffff',
    surface: '#f6f7f9',
    raised: '#ffffff',
    text: '#1a1e27',
    // The colours of text that the host cannot set: code, messages, line numbers.
    texts: hexes(
      '#565e6d #197340 #b3261e #8a5300 #7a2ec9 #176b3a #a3265a ' +
        '#9a4310 #586070 #1f55c4 #0a6675 #384152 #4c5566 #646d7d',
    ),
  },
  dark: {
    editor: '#15171c',
    surface: '#1b1e25',
    raised: '#252932',
    text: '#e6e9ef',
    texts: hexes(
      '#a2aab9 #7ed9a2 #ff9a92 #f0bd6a #c7a6ff #92d8a8 #ff9fbd ' +
        '#f2b582 #9aa4b6 #8fbaff #74d3df #cdd5e2 #aeb7c6 #8f98aa',
    ),
  },
} as const;

/** The least contrast of text and of lines (WCAG 2.2, 1.4.3 and 1.4.11). */
const TEXT = 4.5;
const LINE = 3;

const WHITE: Colour = [255, 255, 255];
const BLACK: Colour = [17, 20, 29];

/** A list of font families: letters of any script, digits, spaces, hyphens, underscores, quotes, periods and commas. */
const FONT = /^[\p{L}\p{N} ,.'"_-]{1,500}$/u;
const MAX_RADIUS = 16;

/**
 * Takes over what can be used of an appearance: values of the expected form, and colours on which, or in which, text can be
 * read. The editor keeps its own values for all others.
 */
export function resolveAppearance(appearance: Appearance, preferred: 'light' | 'dark'): ResolvedAppearance {
  const { colorScheme } = appearance;
  const background = parseColour(appearance.background);
  const named = colorScheme === 'light' || colorScheme === 'dark' ? colorScheme : undefined;
  // Where the host names no colour scheme, its background tells which one it has.
  const seen = background && (luminance(background) < 0.18 ? 'dark' : 'light');
  const scheme = named ?? seen;
  const base = own[scheme ?? preferred];
  const properties = new Map<`--${PropertyName}`, string>();
  const set = (name: PropertyName, colour: Colour) => properties.set(`--${name}`, formatColour(colour));

  let text: Colour = parseHex(base.text);
  let grounds = [base.editor, base.surface, base.raised].map(parseHex);
  const asked = parseColour(appearance.color);
  if (background) {
    const ink = asked && contrast(asked, background) >= TEXT ? asked : text;
    const surface = mix(background, ink, 0.03);
    const hover = mix(background, ink, 0.08);
    const texts = [...base.texts.map(parseHex), ink];
    if (texts.every((one) => [background, surface].every((ground) => contrast(one, ground) >= TEXT))) {
      for (const name of ['editor', 'raised', 'field'] as const) set(name, background);
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
    // As the fill of a button the accent must contrast with the button's text; as a link or focus ring, with the page.
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

let isFollowingSystem = false;
let present: Appearance | undefined;

/** Gives the page the appearance that the host asks for, as far as it can be used; `undefined` gives it the editor's own. */
export function applyAppearance(appearance: Appearance | undefined): void {
  present = appearance;
  if (!isFollowingSystem) {
    isFollowingSystem = true;
    // Where the host names no colour scheme, the system's decides which of the editor's colours its own are combined with.
    matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => applyAppearance(present));
  }
  const { style } = document.documentElement;
  const resolved = resolveAppearance(appearance ?? {}, preferredScheme());
  for (const name of NAMES) {
    const property = `--${name}` as const;
    const value = resolved.properties.get(property);
    if (value === undefined) style.removeProperty(property);
    else style.setProperty(property, value);
  }
  setScheme(resolved.scheme);
}
