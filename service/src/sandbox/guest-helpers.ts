/** The file name of the helpers, by which their own lines are taken out of stack traces. */
export const helpersFile = '<sandbox>';

/** What is told of an error: about ten times what is shown of it. A plugin can throw megabytes, which cost the host more. */
const longestErrorText = 65_536;

/**
 * Runs in a fresh engine before any plugin does. It keeps what it needs of the globals, which the plugin can change.
 *
 * - `invoke(run, input)` calls a plugin's function. What that throws is told to the host, and answered with a value
 *   that no plugin can make.
 * - `describe(error)` tells the host what was thrown.
 * - `isNullText(value)` says whether a value is the very text that the library answers when it cannot allocate.
 *
 * Every text goes to the host with its length and whether it is that text.
 */
export const guestHelpers = `(log, tell) => {
  const { stringify } = JSON;
  const text = String;
  const { apply } = Reflect;
  const { slice } = String.prototype;
  const { isPrototypeOf } = Object.prototype;
  const errorPrototype = Error.prototype;
  const nullText = '<null>';
  const failed = Symbol('failed');
  // Not by "instanceof", which asks the plugin when it has given Error a method for that.
  const isError = (value) => apply(isPrototypeOf, errorPrototype, [value]);
  const show = (value) => {
    if (typeof value === 'string') return value;
    try {
      if (typeof value === 'object' && value !== null && !isError(value)) return stringify(value) ?? text(value);
      return text(value);
    } catch {
      return '(a value that cannot be shown)';
    }
  };
  const write = (...values) => {
    let line = '';
    for (let i = 0; i < values.length; i++) line += (i ? ' ' : '') + show(values[i]);
    // Past the limit: the engine ends what runs at the next turn of a loop, in a way that no plugin can catch.
    if (log(line, line.length, line === nullText)) for (;;);
  };
  globalThis.console = { log: write, info: write, debug: write, warn: write, error: write };
  const cut = (value) => value.length > ${longestErrorText} ? apply(slice, value, [0, ${longestErrorText}]) : value;
  const describe = (error) => {
    let stack = '';
    try { if (isError(error)) stack = cut(text(error.stack ?? '')); } catch {}
    const shown = cut(show(error));
    tell(shown, shown.length, shown === nullText, stack, stack.length, stack === nullText);
  };
  const invoke = (run, input) => {
    try {
      return run(input);
    } catch (error) {
      describe(error);
      return failed;
    }
  };
  return { invoke, describe, isNullText: (value) => value === nullText };
}`;
