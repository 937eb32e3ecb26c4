// The places where systems and tools keep their browsers, in the order of preference.

/** @typedef {import('./find-browsers.js').Machine} Machine */

/**
 * @param {Machine} machine
 * @returns {string[]}
 */
export function chromiumPlaces(machine) {
  return [
    ...onPath(['chromium', 'chromium-browser', 'google-chrome-stable', 'google-chrome', 'chrome'], machine),
    ...macApplications(['Google Chrome', 'Chromium', 'Microsoft Edge'], machine),
    ...windowsPrograms(
      [
        'Google/Chrome/Application/chrome.exe',
        'Chromium/Application/chrome.exe',
        'Microsoft/Edge/Application/msedge.exe',
      ],
      machine,
    ),
    ...[...newest(`${puppeteerCache(machine)}/chrome`, machine), ...newest(playwrightCache(machine), machine)]
      .filter((folder) => !folder.includes('headless_shell'))
      .flatMap((folder) =>
        [
          'chrome-linux64/chrome',
          'chrome-linux/chrome',
          'chrome-mac-arm64/Google Chrome for Testing.app/Contents/MacOS/Google Chrome for Testing',
          'chrome-mac-x64/Google Chrome for Testing.app/Contents/MacOS/Google Chrome for Testing',
          'chrome-mac/Chromium.app/Contents/MacOS/Chromium',
          'chrome-win64/chrome.exe',
          'chrome-win/chrome.exe',
        ].map((program) => `${folder}/${program}`),
      ),
  ];
}

/**
 * Chromium's headless shell: the same engine without the browser around it.
 *
 * @param {Machine} machine
 * @returns {string[]}
 */
export function headlessShellPlaces(machine) {
  return [
    ...onPath(['chromium-headless-shell', 'chrome-headless-shell'], machine),
    ...newest(`${puppeteerCache(machine)}/chrome-headless-shell`, machine).flatMap((folder) =>
      ['linux64', 'mac-arm64', 'mac-x64', 'win64'].map(
        (platform) =>
          `${folder}/chrome-headless-shell-${platform}/chrome-headless-shell${platform === 'win64' ? '.exe' : ''}`,
      ),
    ),
  ];
}

/**
 * Playwright's Firefox is left out: it is a build of its own that does not speak WebDriver BiDi.
 *
 * @param {Machine} machine
 * @returns {string[]}
 */
export function firefoxPlaces(machine) {
  return [
    ...onPath(['firefox-esr', 'firefox'], machine),
    ...macApplications(['Firefox'], machine).map((path) => path.replace(/Firefox$/, 'firefox')),
    ...windowsPrograms(['Mozilla Firefox/firefox.exe'], machine),
    ...newest(`${puppeteerCache(machine)}/firefox`, machine).flatMap((folder) =>
      [
        'firefox/firefox',
        'Firefox.app/Contents/MacOS/firefox',
        'firefox/firefox.exe',
        'core/firefox.exe',
      ].map((program) => `${folder}/${program}`),
    ),
  ];
}

/**
 * The folders that hold the programs of WebKitGTK: below `/usr/lib/<triplet>/` in Debian and Ubuntu,
 * `/usr/libexec/` in Fedora, `/usr/lib/` in Arch.
 *
 * @param {Machine} machine
 * @returns {string[]}
 */
export function libraryFolders(machine) {
  if (machine.platform !== 'linux') return [];
  const triplets = machine.list('/usr/lib').filter((name) => /-linux-gnu/.test(name));
  const roots = [...triplets.map((name) => `/usr/lib/${name}`), '/usr/libexec', '/usr/lib', '/usr/lib64'];
  const versions = ['webkit2gtk-4.1', 'webkitgtk-6.0', 'webkit2gtk-4.0'];
  return versions.flatMap((version) => roots.map((root) => `${root}/${version}`));
}

/**
 * @param {string[]} names in the order of preference
 * @param {Machine} machine
 * @returns {string[]}
 */
export function onPath(names, machine) {
  const windows = machine.platform === 'win32';
  const folders = (machine.env.PATH ?? machine.env.Path ?? '').split(windows ? ';' : ':').filter(Boolean);
  return names.flatMap((name) => folders.map((folder) => `${folder}/${windows ? `${name}.exe` : name}`));
}

/**
 * @param {string[]} names
 * @param {Machine} machine
 */
function macApplications(names, machine) {
  if (machine.platform !== 'darwin') return [];
  return names.flatMap((name) =>
    ['/Applications', `${machine.home}/Applications`].map(
      (folder) => `${folder}/${name}.app/Contents/MacOS/${name}`,
    ),
  );
}

/**
 * @param {string[]} programs
 * @param {Machine} machine
 */
function windowsPrograms(programs, machine) {
  if (machine.platform !== 'win32') return [];
  const { PROGRAMFILES, 'PROGRAMFILES(X86)': x86, LOCALAPPDATA } = machine.env;
  const folders = [PROGRAMFILES, x86, LOCALAPPDATA].filter(Boolean);
  return programs.flatMap((program) => folders.map((folder) => `${folder}/${program}`));
}

/** @param {Machine} machine */
function puppeteerCache(machine) {
  return machine.env.PUPPETEER_CACHE_DIR ?? `${machine.home}/.cache/puppeteer`;
}

/** @param {Machine} machine */
function playwrightCache(machine) {
  const { PLAYWRIGHT_BROWSERS_PATH: chosen, LOCALAPPDATA } = machine.env;
  if (chosen && chosen !== '0') return chosen;
  if (machine.platform === 'darwin') return `${machine.home}/Library/Caches/ms-playwright`;
  if (machine.platform === 'win32') return `${LOCALAPPDATA}/ms-playwright`;
  return `${machine.home}/.cache/ms-playwright`;
}

/**
 * The folders of a tool's cache, one for each version, the newest first.
 *
 * @param {string} folder
 * @param {Machine} machine
 */
function newest(folder, machine) {
  const byNumber = new Intl.Collator('en', { numeric: true });
  return machine
    .list(folder)
    .toSorted((a, b) => byNumber.compare(b, a))
    .map((name) => `${folder}/${name}`);
}
