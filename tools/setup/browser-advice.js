/** @typedef {import('./find-browsers.js').Browsers} Browsers */

// Installs a browser where find-browsers.js looks, on every system and without special rights.
const byPuppeteer = 'npx @puppeteer/browsers install';
const cache = '--path ~/.cache/puppeteer';

/**
 * The messages about the browsers that are missing.
 *
 * @param {Browsers} found
 * @param {string[]} wanted `chromium`, `firefox`, `webkit`
 * @param {NodeJS.Platform} platform
 * @returns {{ errors: string[], notes: string[] }} errors stop the tests, notes do not
 */
export function browserAdvice(found, wanted, platform) {
  const errors = [];
  const notes = [];
  const debian = platform === 'linux' ? 'apt-get install --no-install-recommends' : undefined;
  const snaps =
    found.snaps.length > 0 ? ` (${found.snaps.join(', ')}: a snap, which the tests cannot drive)` : '';

  if (wanted.includes('chromium') && !found.chromium) {
    const ways = [
      `${byPuppeteer} chrome@stable ${cache}`,
      debian && `as root in Debian: ${debian} chromium`,
      'or set CHROME_PATH to a Chrome or Chromium',
    ];
    errors.push(`The tests need Chromium or Chrome, and found none${snaps}. Install it: ${list(ways)}.`);
  }
  if (wanted.includes('firefox') && !found.firefox) {
    const ways = [
      `${byPuppeteer} firefox@stable ${cache}`,
      debian && `as root in Debian: ${debian} firefox-esr`,
      'or set FIREFOX_PATH',
    ];
    notes.push(`Firefox was not found${snaps}: its tests are left out. To run them: ${list(ways)}.`);
  }
  if (wanted.includes('webkit') && !found.webkit) {
    notes.push(
      debian
        ? `WebKit's tests are left out (not found: ${found.missingWebKitParts.join(', ')}). ` +
            `To run them, as root in Debian or Ubuntu: ${debian} webkit2gtk-driver xvfb.`
        : "WebKit's tests are left out: they need WebKitGTK, which is there on Linux.",
    );
  }
  return { errors, notes };
}

/** @param {(string | undefined)[]} ways */
function list(ways) {
  return ways.filter(Boolean).join('; ');
}
