const pool = new Uint8Array(4096);
let used = pool.length;

/**
 * So many random bytes of the system's source, at most 4096. They are read from the system in advance, because each reading costs
 * several microseconds, and are given once.
 */
export function takeRandomBytes(length: number): Uint8Array {
  if (length > pool.length - used) {
    crypto.getRandomValues(pool);
    used = 0;
  }
  const taken = pool.slice(used, used + length);
  pool.fill(0, used, used + length);
  used += length;
  return taken;
}
