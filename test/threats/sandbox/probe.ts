/**
 * A plugin that tells all it can see: each object that can be reached from the globals and from the syntax, with its
 * properties; how deep it can call; and whether memory that it is given is empty. It answers a line for each thing
 * seen, in an order that does not depend on anything but what is there.
 */
export const probe = `
const lines = [];
const seen = new Map();
const queue = [];
const nameOf = (key) => typeof key === 'symbol' ? '[' + String(key) + ']' : key;
const see = (value, path) => {
  if (typeof value === 'function' || (typeof value === 'object' && value !== null)) {
    if (!seen.has(value)) {
      seen.set(value, path);
      queue.push(value);
    }
    return typeof value + ' ' + seen.get(value);
  }
  return typeof value + ' ' + String(value);
};
const look = (object, path) => {
  lines.push(path + ' ' + typeof object + ' ' + Object.prototype.toString.call(object) + ' ' + Object.isExtensible(object));
  lines.push(path + ' has the prototype ' + see(Object.getPrototypeOf(object), path + '.__proto__'));
  for (const key of Reflect.ownKeys(object)) {
    const at = path + '.' + nameOf(key);
    const { value, get, set, writable, enumerable, configurable } = Object.getOwnPropertyDescriptor(object, key);
    const flags = [writable, enumerable, configurable].map(Number).join('');
    lines.push(at + ' ' + flags + ' ' + see(value, at) + ' ' + see(get, at + '.get') + ' ' + see(set, at + '.set'));
  }
};
const depth = (deeper) => {
  let count = 0;
  const dive = () => { count += 1; deeper(dive); };
  try { dive(); } catch (error) { return count + ' ' + error; }
};
const isEmpty = (buffer) => {
  const bytes = new Uint8Array(buffer);
  return bytes.join('') === '0'.repeat(bytes.length);
};

export function run(input) {
  see(globalThis, 'globalThis');
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
  see(syntax, 'syntax');
  for (let object = queue.shift(); object; object = queue.shift()) look(object, seen.get(object));
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
