/** Options of an `LRUCache` of at most `entries` entries. With `max` instead, it would allocate the memory of all of them at once. */
export const entryLimit = (entries: number) => ({ maxSize: entries, sizeCalculation: () => 1 });
