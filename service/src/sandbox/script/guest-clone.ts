/**
 * Source of a function that runs in a fresh engine before any plugin, and makes `structuredClone`. The engine has an extension for
 * it, in C, which loses the length of arrays with holes, their other properties, and values like `new String('a')`.
 */
export const guestClone = String.raw`() => {
  'use strict';
  const { defineProperty, create, keys: keysOf, setPrototypeOf, hasOwn, getOwnPropertyDescriptor: descriptorOf } = Object;
  const { apply, construct } = Reflect;
  const { isArray } = Array;
  const { isView } = ArrayBuffer;
  const objectPrototype = Object.prototype;
  const kindText = objectPrototype.toString;
  const getter = (type, name) => descriptorOf(type.prototype, name).get;
  const TypedArray = Object.getPrototypeOf(Uint8Array);
  const typeOf = descriptorOf(TypedArray.prototype, Symbol.toStringTag).get;
  const views = {};
  for (const type of [Int8Array, Uint8Array, Uint8ClampedArray, Int16Array, Uint16Array, Int32Array, Uint32Array, BigInt64Array,
    BigUint64Array, Float32Array, Float64Array, globalThis.Float16Array, DataView]) if (type) views[type.name] = type;
  const partsOf = (type) => ({ buffer: getter(type, 'buffer'), byteOffset: getter(type, 'byteOffset'), byteLength: getter(type, 'byteLength') });
  const [ofTyped, ofDataView] = [partsOf(TypedArray), partsOf(DataView)];
  const lengthOfTyped = getter(TypedArray, 'length');
  const setBytes = TypedArray.prototype.set;
  const ofBuffer = { length: getter(ArrayBuffer, 'byteLength'), most: getter(ArrayBuffer, 'maxByteLength'),
    isResizable: getter(ArrayBuffer, 'resizable'), isDetached: getter(ArrayBuffer, 'detached') };
  const { slice: sliceBuffer, transfer: transferBuffer } = ArrayBuffer.prototype;
  const { getTime } = Date.prototype;
  const [sourceOf, flagsOf] = [getter(RegExp, 'source'), getter(RegExp, 'flags')];
  const [mapGet, mapSet, eachOfMap] = [Map.prototype.get, Map.prototype.set, Map.prototype.forEach];
  const [setAdd, eachOfSet] = [Set.prototype.add, Set.prototype.forEach];
  const [NewMap, NewSet, NewDate, NewRegExp, NewBuffer, Bytes, NewObject, text] =
    [Map, Set, Date, RegExp, ArrayBuffer, Uint8Array, Object, String];
  const { DOMException: Exception, TypeError: WrongType } = globalThis;
  const valueOf = { Boolean: Boolean.prototype.valueOf, Number: Number.prototype.valueOf, String: String.prototype.valueOf, BigInt: BigInt.prototype.valueOf };
  const errors = create(null);
  for (const type of [Error, EvalError, RangeError, ReferenceError, SyntaxError, TypeError, URIError]) errors[type.name] = type;
  const startsWith = String.prototype.startsWith;
  // What is no data: what the engine and the sandbox have besides plain objects, by how it is shown.
  const others = create(null);
  for (const name of ['Promise', 'WeakMap', 'WeakSet', 'WeakRef', 'FinalizationRegistry', 'Generator', 'AsyncGenerator', 'Array Iterator', 'Map Iterator',
    'Set Iterator', 'String Iterator', 'RegExp String Iterator', 'Iterator Helper', 'Symbol', 'Module', 'SharedArrayBuffer', 'URL', 'URLSearchParams',
    'TextDecoder', 'TextEncoder', 'Headers', 'Response', 'Crypto', 'SubtleCrypto', 'CryptoKey', 'Intl']) others['[object ' + name + ']'] = true;

  const refuse = (what) => { throw new Exception(what + ' cannot be copied.', 'DataCloneError'); };
  const hidden = (object, name, value) => defineProperty(object, name, { __proto__: null, value, writable: true, enumerable: false, configurable: true });

  const cloneBuffer = (buffer) => {
    if (apply(ofBuffer.isDetached, buffer, [])) refuse('An ArrayBuffer that was transferred');
    if (!apply(ofBuffer.isResizable, buffer, [])) return apply(sliceBuffer, buffer, [0]);
    const copy = new NewBuffer(apply(ofBuffer.length, buffer, []), { maxByteLength: apply(ofBuffer.most, buffer, []) });
    apply(setBytes, new Bytes(copy), [new Bytes(buffer)]);
    return copy;
  };
  const cloneView = (view, memory) => {
    const name = apply(typeOf, view, []) ?? 'DataView';
    const parts = name === 'DataView' ? ofDataView : ofTyped;
    const buffer = apply(parts.buffer, view, []);
    if (apply(kindText, buffer, []) === '[object SharedArrayBuffer]') refuse('A view of shared memory');
    const copy = cloneValue(buffer, memory);
    let offset, size;
    try {
      offset = apply(parts.byteOffset, view, []);
      size = name === 'DataView' ? apply(parts.byteLength, view, []) : apply(lengthOfTyped, view, []);
    } catch { refuse('A view of less memory than it had'); }
    // One that reaches to the end of memory that grows is taken for one that grows with it.
    const isWhole = apply(ofBuffer.isResizable, buffer, []) && offset + apply(parts.byteLength, view, []) === apply(ofBuffer.length, buffer, []);
    return isWhole ? new views[name](copy, offset) : new views[name](copy, offset, size);
  };
  const cloneError = (error, memory) => {
    const name = error.name;
    const copy = construct(errors[name === undefined ? 'Error' : text(name)] ?? errors.Error, []);
    const message = descriptorOf(error, 'message');
    if (message && 'value' in message) hidden(copy, 'message', text(message.value));
    memory(error, copy);
    if (typeof error.stack === 'string') hidden(copy, 'stack', error.stack);
    if (hasOwn(error, 'cause')) hidden(copy, 'cause', cloneValue(error.cause, memory));
    return copy;
  };
  // Properties that a getter removes meanwhile are left out.
  const cloneProperties = (value, copy, memory) => {
    const names = keysOf(value);
    for (let at = 0; at < names.length; at++) {
      const name = names[at];
      if (!hasOwn(value, name)) continue;
      const one = cloneValue(value[name], memory);
      if (name === '__proto__') defineProperty(copy, name, { __proto__: null, value: one, writable: true, enumerable: true, configurable: true });
      else copy[name] = one;
    }
    return copy;
  };
  // Calls the methods of a kind, which throw where a value only says that it is of it.
  const start = (kind, value, collect) => {
    switch (kind) {
      case '[object Boolean]': return new NewObject(apply(valueOf.Boolean, value, []));
      case '[object Number]': return new NewObject(apply(valueOf.Number, value, []));
      case '[object String]': return new NewObject(apply(valueOf.String, value, []));
      case '[object BigInt]': return new NewObject(apply(valueOf.BigInt, value, []));
      case '[object Date]': return new NewDate(apply(getTime, value, []));
      case '[object RegExp]': return new NewRegExp(apply(sourceOf, value, []), apply(flagsOf, value, []));
      case '[object ArrayBuffer]': return cloneBuffer(value);
      case '[object Map]': apply(eachOfMap, value, [collect]); return new NewMap();
      case '[object Set]': apply(eachOfSet, value, [collect]); return new NewSet();
    }
  };
  const cloneObject = (value, memory) => {
    if (isArray(value)) {
      const copy = [];
      copy.length = value.length;
      return cloneProperties(value, memory(value, copy), memory);
    }
    if (isView(value)) return memory(value, cloneView(value, memory));
    const kind = apply(kindText, value, []);
    if (kind === '[object Error]') return cloneError(value, memory);
    if (others[kind] || apply(startsWith, kind, ['[object Intl.'])) refuse(kind);
    // Those of a Map or a Set as they are now: a getter may change them while their values are copied.
    const keys = [], values = [];
    let copy;
    try {
      copy = start(kind, value, (one, key) => { keys[keys.length] = key; values[values.length] = one; });
    } catch (error) {
      if (!(error instanceof WrongType)) throw error;
    }
    if (copy === undefined) {
      // Without a prototype, no setter of the plugin's is called while it is filled.
      copy = cloneProperties(value, memory(value, create(null)), memory);
      return setPrototypeOf(copy, objectPrototype);
    }
    memory(value, copy);
    for (let at = 0; at < keys.length; at++) {
      const key = cloneValue(keys[at], memory);
      if (kind === '[object Map]') apply(mapSet, copy, [key, cloneValue(values[at], memory)]);
      else apply(setAdd, copy, [key]);
    }
    return copy;
  };
  const cloneValue = (value, memory) => {
    switch (typeof value) {
      case 'object': return value === null ? null : memory(value) ?? cloneObject(value, memory);
      case 'function': return refuse('A function');
      case 'symbol': return refuse('A symbol');
      default: return value;
    }
  };

  const structuredClone = (...values) => {
    if (!values.length) throw new WrongType('structuredClone takes 1 argument, and got 0.');
    const buffers = [...(values[1]?.transfer ?? [])];
    for (let at = 0; at < buffers.length; at++) {
      const buffer = buffers[at];
      const isBuffer = apply(kindText, buffer, []) === '[object ArrayBuffer]';
      if (!isBuffer || apply(ofBuffer.isDetached, buffer, []) || buffers.indexOf(buffer) < at)
        throw new Exception('Only ArrayBuffers that were not transferred before can be transferred.', 'DataCloneError');
    }
    const known = new NewMap();
    const copy = cloneValue(values[0], (value, made) => {
      if (made === undefined) return apply(mapGet, known, [value]);
      apply(mapSet, known, [value, made]);
      return made;
    });
    for (let at = 0; at < buffers.length; at++) apply(transferBuffer, buffers[at], []);
    return copy;
  };
  defineProperty(globalThis, 'structuredClone', { value: structuredClone, writable: true, configurable: true, enumerable: false });
}`;
