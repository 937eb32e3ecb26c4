import larder from './looks/larder.css?raw';
import sorbet from './looks/sorbet.css?raw';
import slate from './looks/slate.css?raw';
import { change } from './state.ts';

// What the user chose, which the browser keeps.

/** The CSS of each look of the two elements: what a vendor would put into a page. */
export const looks = { larder, slate, sorbet };

export interface Preferences {
  theme: 'auto' | 'light' | 'dark';
  /** How the two elements look. */
  look: keyof typeof looks;
  /** How the editor gets its token: the values of the attribute `token-delivery`. */
  delivery: 'message' | 'url';
  /** Whether the drawer for developers is open. */
  drawer: 'closed' | 'open';
}

export type Delivery = Preferences['delivery'];

/** The values of each preference, the default first. */
export const preferences: { readonly [Name in keyof Preferences]: readonly Preferences[Name][] } = {
  theme: ['auto', 'light', 'dark'],
  look: ['larder', 'slate', 'sorbet'],
  delivery: ['message', 'url'],
  drawer: ['closed', 'open'],
};

const keyOf = (name: string) => `larder-${name}`;
const sheet = new CSSStyleSheet();

/** Applies what the browser kept, or the defaults. */
export function restorePreferences(): void {
  document.adoptedStyleSheets.push(sheet);
  for (const name of Object.keys(preferences) as (keyof Preferences)[]) {
    const saved = localStorage.getItem(keyOf(name));
    const values: readonly string[] = preferences[name];
    apply({ [name]: values.find((value) => value === saved) ?? values[0] });
  }
}

export function choose(chosen: Partial<Preferences>): void {
  for (const [name, value] of Object.entries(chosen)) localStorage.setItem(keyOf(name), value);
  apply(chosen);
}

function apply(chosen: Partial<Preferences>): void {
  const { theme, look } = chosen;
  const { dataset } = document.documentElement;
  if (theme) dataset['theme'] = theme;
  if (look) {
    sheet.replaceSync(looks[look]);
    dataset['look'] = look;
  }
  change(chosen);
}
