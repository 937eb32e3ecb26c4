import { takeAddress } from './address.ts';

// First of all, before the editor itself is even loaded: nothing that runs later finds the token in an address.
const opened = takeAddress(window);

try {
  const { start } = await import('./page.ts');
  await start(opened);
} catch (error) {
  const status = document.getElementById('waiting');
  if (status)
    status.textContent = 'The editor could not be loaded. Check your connection and reload the page.';
  throw error;
}
