export const themes = ['auto', 'light', 'dark'] as const;
export type Theme = (typeof themes)[number];

const KEY = 'larder-theme';

export function savedTheme(): Theme {
  const saved = localStorage.getItem(KEY);
  return themes.find((theme) => theme === saved) ?? 'auto';
}

/** Shows the page in a theme; `auto` is what the system prefers. */
export function applyTheme(theme: Theme): void {
  document.documentElement.dataset['theme'] = theme;
}

export function saveTheme(theme: Theme): void {
  localStorage.setItem(KEY, theme);
  applyTheme(theme);
}
