// A bundle for a browser gets this file instead of `plugin-editor/server.js`. It is empty on purpose: an import from it
// fails when the bundle is made, and this file's name, which the bundler prints, says why. An environment token may
// edit and run the plugins of every user, and in a page every visitor could read it.
// oxlint-disable-next-line unicorn/require-module-specifiers -- without it, this would be no module
export {};
