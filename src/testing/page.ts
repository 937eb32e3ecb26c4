import script from 'virtual:stand-in-page';
import type { StandInSettings } from './commands.ts';

const defaults: StandInSettings = {
  language: 'javascript',
  exists: false,
  permissions: ['read', 'write', 'deploy'],
};

/** The HTML of the page that stands in for an editor: one file that loads nothing else. */
export function standInPage(settings: Partial<StandInSettings> = {}): string {
  // In a script element, `</script` in a text would end the script.
  const json = JSON.stringify({ ...defaults, ...settings }).replaceAll('<', '\\u003c');
  return `<!doctype html>
<html>
<head><meta charset="utf-8"><title>Stand-in editor</title></head>
<body>
<h1>Stand-in editor</h1>
<p id="plugin"></p>
<textarea id="text" aria-label="Source"></textarea>
<button id="save">Save</button>
<p id="state" role="status"></p>
<script>window.standInSettings = ${json}</script>
<script type="module">${script}</script>
</body>
</html>`;
}
