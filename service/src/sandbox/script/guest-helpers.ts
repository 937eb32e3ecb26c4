/** The file name of the helpers, by which their frames are removed from stack traces. */
export const helpersFile = '<sandbox>';

/**
 * How much of an error is passed to the host, in UTF-16 code units: about ten times what is shown. A plugin can throw megabytes.
 */
const longestErrorText = 65_536;

/**
 * Source of a function that runs in a fresh engine before any plugin. It keeps references to the globals that it needs, because
 * a plugin can change them. It returns these functions:
 *
 * - `invoke(run, input)` calls a plugin's function. An error that it throws is reported to the host, and a value is returned
 *   that no plugin can make.
 * - `invokeJson(run, input)` does the same with the value of a JSON text.
 * - `toJson(value)` makes JSON of a plugin's output. Where there is no JSON for it, the reason is reported to the host, and the
 *   same value is returned as by `invoke`.
 * - `describe(error)` reports a thrown value to the host.
 * - `isNullText(value)` returns whether a value really is the text "<null>", which the library also returns when it cannot
 *   allocate memory.
 *
 * Every text is passed to the host with its length, and with whether it really is "<null>".
 */
export const guestHelpers = `(log, reportError) => {
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
  // Not by "instanceof", which calls a method that the plugin can define on Error.
  const isError = (value) => apply(isPrototypeOf, errorPrototype, [value]);
  // The getter of Map throws for anything but a Map, and that of Set likewise. "instanceof" could call the plugin.
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
  // JSON cannot hold these: within a value, a Map becomes a list of its entries, and a Set one of its members.
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
  // Clients get logs as lines of text, so the level is a part of the text. It is in a closure and not an argument, because a
  // plugin could call these functions with other arguments, and the host relies on every line being a text.
  const writer = (level) => {
    const write = (...values) => {
      let line = level;
      for (let i = 0; i < values.length; i++) line += (i ? ' ' : '') + show(values[i]);
      // Past the limit the engine ends the run at the next turn of a loop, in a way that no plugin can catch.
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
    reportError(shown, shown.length, shown === nullText, stack, stack.length, stack === nullText);
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
    reportError(message, message.length, false, '', 0, false);
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
      // JSON writes NaN and infinity as "null", so the value is only searched for them where there is a "null".
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
