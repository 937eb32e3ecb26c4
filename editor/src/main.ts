import { takeAddress } from './shell/address.ts';
import { LauncherLink } from './shell/launcher-link.ts';
import { allowedBuilders } from './service/builders.ts';

const setting = (name: string) => document.querySelector<HTMLMetaElement>(`meta[name="${name}"]`)?.content;

// This comes first, so that no later script finds the token in the address. The token is used only where the service allows
// tokens in addresses.
export const addressRequest = takeAddress(window, setting('plugin-editor-address-tokens') === 'on');

/** The base addresses of the services that this editor may talk to. */
export const builders = allowedBuilders(setting('plugin-editor-builders') ?? '', location.href);

// The launcher is greeted and the draft is requested before the editor is loaded, so that all three load at the same time.
const { target, token } = addressRequest;
export const launcher = new LauncherLink({
  addressed: target && token ? { target, token } : undefined,
  builders,
});

addEventListener('plugin-editor-load-failed', ({ detail }) => launcher.fail(detail));
