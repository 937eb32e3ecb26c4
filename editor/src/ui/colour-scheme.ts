const prefersDark = (): MediaQueryList => matchMedia('(prefers-color-scheme: dark)');

const listeners = new Set<() => void>();

/** Which colours the system prefers. */
export const preferredScheme = (): 'light' | 'dark' => (prefersDark().matches ? 'dark' : 'light');

/** Whether the page is dark: by the word of the page around it, else by the system. */
export function isDark(): boolean {
  const { colorScheme } = document.documentElement.style;
  return (colorScheme || preferredScheme()) === 'dark';
}

/** Makes the page light or dark; `undefined` leaves that to the system. */
export function setScheme(scheme: 'light' | 'dark' | undefined): void {
  document.documentElement.style.colorScheme = scheme ?? '';
  for (const listener of listeners) listener();
}

/** Has `listener` called when the page becomes light or dark. Answers what ends that. */
export function onSchemeChange(listener: () => void): () => void {
  const query = prefersDark();
  query.addEventListener('change', listener);
  listeners.add(listener);
  return () => {
    query.removeEventListener('change', listener);
    listeners.delete(listener);
  };
}
