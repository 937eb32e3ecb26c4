import { takeAddress } from './shell/address.ts';
import { LauncherLink } from './shell/launcher-link.ts';
import { allowedBuilders } from './service/builders.ts';

const setting = (name: string) => document.querySelector<HTMLMetaElement>(`meta[name="${name}"]`)?.content;

// First of all, before the editor itself is even loaded: nothing that runs later finds the token in an address. Where the
// service does not say that it may be used, it is not.
export const opened = takeAddress(window, setting('plugin-editor-address-tokens') === 'on');

/** The builders that this editor may talk to. */
export const builders = allowedBuilders(setting('plugin-editor-builders') ?? '', location.href);

// And the page around it is greeted, and the draft is asked for, so that their answers come while the editor loads.
const { target, token } = opened;
export const launcher = new LauncherLink({
  addressed: target && token ? { target, token } : undefined,
  builders,
});

addEventListener('plugin-editor-load-failed', ({ detail }) => launcher.fail(detail));
