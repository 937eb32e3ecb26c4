import { BlockList, isIP } from 'node:net';
import * as z from 'zod';

/*
 * The kinds of settings. Each is a schema that parses the text of one variable. Its messages continue "NAME …; it must be", so that
 * all messages on mistakes have the same form.
 */

/** Refuses a text; `expected` continues "it must be". */
function refuse(context: z.RefinementCtx, expected: string): never {
  context.addIssue({ code: 'custom', message: expected });
  return z.NEVER;
}

/** @param what the kind of number, for messages, such as "a port" */
export const wholeNumber = (min: number, max: number, what: string) =>
  z.string().transform((text, context) => {
    const value = Number(text);
    return /^\d+$/.test(text) && value >= min && value <= max
      ? value
      : refuse(context, `${what}: a whole number from ${min} to ${max}`);
  });

export const port = wholeNumber(0, 65_535, 'a port');

/** A number of processes, or `auto`. */
export const processCount = (max: number) =>
  z.string().transform((text, context) => {
    if (text === 'auto') return text;
    return /^[1-9]\d*$/.test(text) && Number(text) <= max
      ? Number(text)
      : refuse(context, `auto, or a number of processes from 1 to ${max}`);
  });

export const onOrOff = z.enum(['on', 'off'], { error: 'on or off' }).transform((text) => text === 'on');

export const oneOf = <T extends string>(words: readonly [T, ...T[]]) =>
  z.enum(words, { error: `one of ${words.join(', ')}` });

/** Several values, separated by spaces or commas. */
const list = z.string().transform((text) => text.split(/[\s,]+/).filter(Boolean));

const exampleOrigin = 'https://plugins.example.com';

/** An origin in the form of browsers: scheme, host and port. A trailing slash is removed. */
export const publicUrl = z.string().transform((text, context) => {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const isLocal =
    url !== undefined && /^(?:localhost|.+\.localhost|127\.0\.0\.1|\[::1\])$/.test(url.hostname);
  const isAllowed = url?.protocol === 'https:' || (url?.protocol === 'http:' && isLocal);
  if (!url || !isAllowed || url.hostname.includes('*')) {
    return refuse(context, `an origin with https, such as ${exampleOrigin} (http on localhost alone)`);
  }
  const written = text.toLowerCase().replace(/\/$/, '');
  if (written === url.origin) return url.origin;
  return refuse(
    context,
    `an origin alone, without user, path, query or default port, in the form of browsers, which is ${url.origin}`,
  );
});

/** An address or name to listen on. */
export const listenHost = z
  .string()
  .transform((text, context) =>
    isIP(text) || isHostName(text) ? text.toLowerCase() : refuse(context, 'an IP address or a host name'),
  );

/** Values of the `Host` header: a name or address, and a port where it is not the scheme's own. */
export const hostList = list.transform((hosts, context) => {
  const wrong = hosts.find((host) => !isHost(host));
  return wrong === undefined
    ? hosts.map((host) => host.toLowerCase())
    : refuse(
        context,
        `host names, each with a port where it is not the scheme's own, such as plugins.internal:8082; "${wrong}" is none`,
      );
});

function isHost(text: string): boolean {
  const [, host = '', digits = ''] = /^(\[[\da-f:.]+\]|[^:[\]]+)(?::(\d{1,5}))?$/i.exec(text) ?? [];
  return (isIP(host.replace(/^\[|\]$/g, '')) > 0 || isHostName(host)) && Number(digits) <= 65_535;
}

const isHostName = (text: string) =>
  text.length <= 253 && /^[a-z\d](?:[a-z\d-]*[a-z\d])?(?:\.[a-z\d](?:[a-z\d-]*[a-z\d])?)*$/i.test(text);

/** Ranges of addresses as `address/bits`, or single addresses. */
export const addressRanges = list.transform((ranges, context) => {
  const wrong = ranges.find((range) => !isRange(range));
  return wrong === undefined
    ? ranges
    : refuse(context, `ranges of addresses, such as 10.0.0.0/8 or fd00::/8; "${wrong}" is none`);
});

function isRange(text: string): boolean {
  const [address = '', bits, ...others] = text.split('/');
  const version = isIP(address);
  if (!version || others.length) return false;
  if (bits === undefined) return true;
  return /^\d{1,3}$/.test(bits) && Number(bits) <= (version === 4 ? 32 : 128);
}

/** Makes a block list, for looking addresses up, from the ranges that `addressRanges` has parsed. */
export function toBlockList(ranges: readonly string[]): BlockList {
  const found = new BlockList();
  for (const range of ranges) {
    const [address = '', bits] = range.split('/');
    const version = isIP(address) === 4 ? 'ipv4' : 'ipv6';
    if (bits === undefined) found.addAddress(address, version);
    else found.addSubnet(address, Number(bits), version);
  }
  return found;
}

/** Exact origins. `frame-ancestors.ts` checks whether each can be used in a policy. */
export const originList = list;

/** Exact origins with `http` or `https`, as browsers write them. */
export const exactOrigins = list.transform((origins, context) => {
  const wrong = origins.find((origin) => !isExactOrigin(origin));
  return wrong === undefined
    ? origins
    : refuse(
        context,
        `origins, each with its scheme, in lower case and without a default port or path, such as http://localhost:5173; "${wrong}" is none`,
      );
});

function isExactOrigin(text: string): boolean {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  return (
    url !== undefined && /^https?:$/.test(url.protocol) && url.origin === text && !url.hostname.includes('*')
  );
}

/** Keys of 32 bytes in base64. */
export const secretKeys = list.transform((texts, context) => {
  const areKeys = texts.length > 0 && texts.every((text) => /^[A-Za-z\d+/]{43}=?$/.test(text));
  return areKeys
    ? texts
    : refuse(
        context,
        'one or more keys of 32 bytes in base64, such as openssl rand -base64 32 prints, separated by spaces',
      );
});

/** A URL of a mail server. */
export const smtpUrl = z.string().transform((text, context) => {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  return url && /^smtps?:$/.test(url.protocol) && url.hostname
    ? text
    : refuse(context, 'the URL of a mail server, such as smtps://user:password@mail.example.com');
});

/** A mail address, alone or after a name and between angle brackets. */
export const mailSender = z.string().transform((text, context) => {
  const [, named] = /^[^<>]*<([^<>]*)>$/.exec(text) ?? [];
  const address = named ?? text;
  // A domain without a period is valid, too, such as that of a machine in a local network.
  return /^[^\s@<>",;]+@[^\s@<>",;]+$/.test(address) && !/[\r\n]/.test(text)
    ? text
    : refuse(
        context,
        'the address of a sender, such as plugins@example.com or Plugins <plugins@example.com>',
      );
});

export const text = z.string();
