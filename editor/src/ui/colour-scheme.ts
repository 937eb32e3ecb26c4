const prefersDark = (): MediaQueryList => matchMedia('(prefers-color-scheme: dark)');

const listeners = new Set<() => void>();

/** Which colours the system prefers. */
export const preferredScheme = (): 'light' | 'dark' => (prefersDark().matches ? 'dark' : 'light');

/** Whether the page is dark: as the page around it asks, else as the system prefers. */
export function isDark(): boolean {
  const { colorScheme } = document.documentElement.style;
  return (colorScheme || preferredScheme()) === 'dark';
}

/** Makes the page light or dark; `undefined` leaves that to the system. */
export function setScheme(scheme: 'light' | 'dark' | undefined): void {
  document.documentElement.style.colorScheme = scheme ?? '';
  for (const listener of listeners) listener();
}

/** Calls `listener` when the page becomes light or dark. Returns a function that ends this. */
export function onSchemeChange(listener: () => void): () => void {
  const query = prefersDark();
  query.addEventListener('change', listener);
  listeners.add(listener);
  return () => {
    query.removeEventListener('change', listener);
    listeners.delete(listener);
  };
}
