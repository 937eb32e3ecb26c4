// Runs before anything is installed: plain JavaScript, no dependencies.

/**
 * Whether a version of Node is at least the one that a range of the form `>=20.19` names.
 *
 * @param {string} version such as `20.19.4`
 * @param {string} range
 */
export function isAtLeast(version, range) {
  const [wantedMajor = 0, wantedMinor = 0] = numbers(range);
  const [major = 0, minor = 0] = numbers(version);
  return major > wantedMajor || (major === wantedMajor && minor >= wantedMinor);
}

/** @param {string} text */
function numbers(text) {
  return (text.match(/\d+/g) ?? []).map(Number);
}

/**
 * The message when the project's own Node is missing and the Node that runs this is too old to replace it; `undefined`
 * otherwise.
 *
 * @param {string} version of the Node that runs this
 * @param {boolean} ownNodeIsThere whether node_modules/.bin has a node
 * @returns {string | undefined}
 */
export function missingNodeAdvice(version, ownNodeIsThere) {
  if (ownNodeIsThere || isAtLeast(version, '24')) return undefined;
  return (
    'The dependency "node" is there, but its install script did not run (npm is set to ignore or block scripts?).\n' +
    'Let it run once: npm rebuild node --ignore-scripts=false\n' +
    `Or use Node 24 or later yourself; the one here is ${version}.`
  );
}
