/**
 * A plugin that tells all it can see: each object that can be reached from the globals and from the syntax, by a number, with its
 * properties; how deep it can call; and whether memory that it is given is empty. It answers a line for each thing
 * seen, in an order that does not depend on anything but what is there. It runs often, so it is brief.
 */
export const probe = `
const lines = [];
const seen = new Map();
const queue = [];
const nameOf = (key) => typeof key === 'symbol' ? '[' + String(key) + ']' : key;
const see = (value, from, key) => {
  if (typeof value === 'function' || (typeof value === 'object' && value !== null)) {
    let number = seen.get(value);
    if (number === undefined) {
      seen.set(value, number = seen.size);
      queue.push(value);
      lines.push('#' + number + ' is ' + from + nameOf(key));
    }
    return '#' + number;
  }
  return typeof value + ' ' + String(value);
};
const look = (object) => {
  const at = '#' + seen.get(object) + '.';
  lines.push(at + ' ' + typeof object + ' ' + Object.prototype.toString.call(object) + ' ' + Object.isExtensible(object));
  lines.push(at + '__proto__ ' + see(Object.getPrototypeOf(object), at, '__proto__'));
  for (const key of Reflect.ownKeys(object)) {
    const found = Object.getOwnPropertyDescriptor(object, key);
    const flags = (found.writable ? 'w' : '') + (found.enumerable ? 'e' : '') + (found.configurable ? 'c' : '');
    const holds = 'value' in found ? see(found.value, at, key) : 'get ' + see(found.get, at, key) + ' set ' + see(found.set, at, key);
    lines.push(at + nameOf(key) + ' ' + flags + ' ' + holds);
  }
};
const depth = (deeper) => {
  let count = 0;
  const dive = () => { count += 1; deeper(dive); };
  try { dive(); } catch (error) { return count + ' ' + error; }
};
// The largest byte is the last one: sorting takes a tenth of the time of looking at each.
const isEmpty = (buffer) => new Uint8Array(buffer).sort().at(-1) === 0;

export function run(input) {
  see(globalThis, '', 'globalThis');
  const syntax = {
    async: async () => {}, generator: function* () {}, asyncGenerator: async function* () {},
    iterator: [][Symbol.iterator](), mapIterator: new Map().keys(), setIterator: new Set().keys(),
    stringIterator: ''[Symbol.iterator](), matches: 'a'.matchAll(/a/g), helper: [].values().map((x) => x),
    wrapped: Iterator.from({ next() {} }), expression: /a/, arguments: (function () { return arguments; })(),
    this: (function () { return this; })(), sloppy: Function('return arguments')(), meta: import.meta, error: new Error('').stack,
    symbols: [Symbol.keyFor(Symbol.for('left')), Symbol.for('left').description],
    zone: [new Date(0).toString(), new Date(0).getTimezoneOffset()], locale: (1234.5).toLocaleString(),
    input,
  };
  see(syntax, '', 'syntax');
  for (let i = 0; i < queue.length; i++) look(queue[i]);
  lines.push('calls: ' + depth((dive) => dive()));
  for (const size of [1, 7, 100, 5000]) {
    const buffer = new ArrayBuffer(size);
    const growing = new ArrayBuffer(1, { maxByteLength: size });
    growing.resize(size);
    const moved = new ArrayBuffer(1).transfer(size);
    lines.push(size + ' bytes: ' + [buffer, growing, moved, new Float64Array(size).buffer].map(isEmpty));
  }
  return lines.join('\\n');
}
`;
