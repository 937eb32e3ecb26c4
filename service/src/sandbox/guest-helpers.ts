/** The file name of the helpers, by which their own lines are taken out of stack traces. */
export const helpersFile = '<sandbox>';

/** What is told of an error: about ten times what is shown of it. A plugin can throw megabytes, which cost the host more. */
const longestErrorText = 65_536;

/**
 * Runs in a fresh engine before any plugin does. It keeps what it needs of the globals, which the plugin can change.
 *
 * - `invoke(run, input)` calls a plugin's function. What that throws is told to the host, and answered with a value
 *   that no plugin can make.
 * - `invokeJson(run, input)` does the same with the value that a text of JSON is of.
 * - `toJson(value)` makes JSON of what a plugin answered; where there is none, it tells why, and answers as `invoke` does.
 * - `describe(error)` tells the host what was thrown.
 * - `isNullText(value)` says whether a value is the very text that the library answers when it cannot allocate.
 *
 * Every text goes to the host with its length and whether it is that text.
 */
export const guestHelpers = `(log, tell) => {
  const { parse, stringify } = JSON;
  const text = String;
  const { apply, getOwnPropertyDescriptor } = Reflect;
  const sizeOf = (type) => getOwnPropertyDescriptor(type.prototype, 'size').get;
  const [mapSize, setSize] = [sizeOf(Map), sizeOf(Set)];
  const [eachOfMap, eachOfSet] = [Map.prototype.forEach, Set.prototype.forEach];
  const { includes, slice } = String.prototype;
  const { isFinite } = Number;
  const { isPrototypeOf } = Object.prototype;
  const errorPrototype = Error.prototype;
  const nullText = '<null>';
  const failed = Symbol('failed');
  // Not by "instanceof", which asks the plugin when it has given Error a method for that.
  const isError = (value) => apply(isPrototypeOf, errorPrototype, [value]);
  // Only a Map has a size that the getter of Map can read, and a Set likewise: "instanceof" asks the plugin.
  const sizeBy = (getter, value) => {
    if (typeof value !== 'object' || value === null) return undefined;
    try { return apply(getter, value, []); } catch { return undefined; }
  };
  const entriesOf = (map) => {
    const entries = [];
    apply(eachOfMap, map, [(value, key) => { entries[entries.length] = [key, value]; }]);
    return entries;
  };
  const membersOf = (set) => {
    const members = [];
    apply(eachOfSet, set, [(value) => { members[members.length] = value; }]);
    return members;
  };
  // JSON has no text for these: a Map within a value becomes a list of its entries, a Set one of its members.
  const readable = (key, value) => {
    if (typeof value === 'bigint') return value + 'n';
    if (sizeBy(mapSize, value) !== undefined) return entriesOf(value);
    return sizeBy(setSize, value) === undefined ? value : membersOf(value);
  };
  const json = (value) => stringify(value, readable) ?? text(value);
  const listed = (values, write) => {
    let all = '';
    for (let i = 0; i < values.length; i++) all += (i ? ', ' : '') + write(values[i]);
    return all;
  };
  const show = (value) => {
    if (typeof value === 'string') return value;
    try {
      const entries = sizeBy(mapSize, value);
      if (entries !== undefined)
        return 'Map(' + entries + ') {' + listed(entriesOf(value), (entry) => json(entry[0]) + ' => ' + json(entry[1])) + '}';
      const members = sizeBy(setSize, value);
      if (members !== undefined) return 'Set(' + members + ') {' + listed(membersOf(value), json) + '}';
      if (typeof value === 'object' && value !== null && !isError(value)) return stringify(value, readable) ?? text(value);
      return text(value);
    } catch {
      return '(a value that cannot be shown)';
    }
  };
  // Logs are lines of text for every client, so that the level of one is a part of its text. The level is in a closure
  // and no argument: a plugin finds these functions on the stack, and the host relies on it that a line is a text.
  const writer = (level) => {
    const write = (...values) => {
      let line = level;
      for (let i = 0; i < values.length; i++) line += (i ? ' ' : '') + show(values[i]);
      // Past the limit: the engine ends what runs at the next turn of a loop, in a way that no plugin can catch.
      if (log(line, line.length, line === nullText)) for (;;);
    };
    return write;
  };
  globalThis.console = {
    log: writer(''),
    info: writer('[info] '),
    debug: writer('[debug] '),
    warn: writer('[warn] '),
    error: writer('[error] '),
  };
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
  const invokeJson = (run, input) => {
    try {
      return run(parse(input));
    } catch (error) {
      describe(error);
      return failed;
    }
  };
  const fail = (message) => {
    tell(message, message.length, false, '', 0, false);
    return failed;
  };
  const notANumber = {};
  const refuseNumbers = (key, value) => {
    if (typeof value === 'number' && !isFinite(value)) throw notANumber;
    return value;
  };
  const toJson = (value) => {
    try {
      const written = stringify(value);
      if (written === undefined) {
        const kind = value === undefined ? 'nothing' : 'a value of type ' + typeof value;
        return fail('"run" must return a value that JSON can hold, or a promise of it; it returned ' + kind + '.');
      }
      // JSON has "null" for what is no number; only then is it worth looking for one.
      if (apply(includes, written, ['null'])) stringify(value, refuseNumbers);
      return written;
    } catch (error) {
      if (error === notANumber) {
        return fail('"run" must return a value that JSON can hold; in what it returned a number is NaN or infinite.');
      }
      describe(error);
      return failed;
    }
  };
  return { invoke, invokeJson, toJson, describe, isNullText: (value) => value === nullText };
}`;
