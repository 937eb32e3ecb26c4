import { builders, launcher, opened } from './main.ts';
import { start } from './shell/page.ts';

// The third script of the page: the editor itself is loaded.
void start(opened, builders, launcher);
