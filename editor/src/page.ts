import { addressRequest, builders, launcher } from './main.ts';
import { start } from './shell/page.ts';

// The third script of the page, after loader.ts and main.ts. The editor itself comes with it.
void start(addressRequest, builders, launcher);
