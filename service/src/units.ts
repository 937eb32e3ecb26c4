/** In bytes. */
export const mebibyte = 2 ** 20;

/** A number of bytes in words, such as "64 KiB". */
export const bytesInWords = (bytes: number): string =>
  bytes % mebibyte === 0
    ? `${bytes / mebibyte} MiB`
    : bytes % 1024 === 0
      ? `${bytes / 1024} KiB`
      : `${bytes} bytes`;

/** A day in ms. JavaScript's time has no leap seconds. */
export const dayLength = 86_400_000;
