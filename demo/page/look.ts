import larder from './looks/larder.css?raw';
import sorbet from './looks/sorbet.css?raw';
import slate from './looks/slate.css?raw';

/** The CSS of each look of the two elements: what one would put into one's own page. */
export const looks = { larder, slate, sorbet };
export type Look = keyof typeof looks;
export const lookNames = Object.keys(looks) as Look[];

const KEY = 'larder-look';
const sheet = new CSSStyleSheet();

export function savedLook(): Look {
  const saved = localStorage.getItem(KEY);
  return lookNames.find((look) => look === saved) ?? 'larder';
}

/** Shows the elements in a look; the page's own colours follow by `data-look`. */
export function applyLook(look: Look): void {
  sheet.replaceSync(looks[look]);
  if (!document.adoptedStyleSheets.includes(sheet)) document.adoptedStyleSheets.push(sheet);
  document.documentElement.dataset['look'] = look;
}

export function saveLook(look: Look): void {
  localStorage.setItem(KEY, look);
  applyLook(look);
}
