import { takeAddress } from './shell/address.ts';
import { LauncherLink } from './shell/launcher-link.ts';

// First of all, before the editor itself is even loaded: nothing that runs later finds the token in an address.
const opened = takeAddress(window, acceptsAddressTokens());
// And the page around it is greeted, so that its answer comes while the editor loads.
const launcher = new LauncherLink();

/** Whether the service lets this editor take a token from its address; where nothing is said, it does not. */
function acceptsAddressTokens(): boolean {
  return (
    document.querySelector<HTMLMetaElement>('meta[name="plugin-editor-address-tokens"]')?.content === 'on'
  );
}

try {
  const { start } = await import('./shell/page.ts');
  start(opened, launcher);
} catch (error) {
  const problem = 'The editor could not be loaded. Check your connection and reload the page.';
  const status = document.getElementById('waiting');
  if (status) status.textContent = problem;
  launcher.fail(problem);
  throw error;
}
