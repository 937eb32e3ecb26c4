/** Whether a text is of a format. */
type FormatCheck = (text: string) => boolean;

/**
 * The formats that are checked. Validators embed the source of these functions, so that none refers to anything outside of itself.
 * The text may be hostile: lengths are bounded first, and no expression has two ways to match the same characters. The service and
 * the editor, which do not import each other, have the same file; a test compares both.
 */
export const formats: Readonly<Record<string, FormatCheck>> = {
  date: (text) => {
    if (text.length !== 10) return false;
    const match = /^(\d{4})-(\d\d)-(\d\d)$/.exec(text);
    if (!match) return false;
    const [year, month, day] = match.slice(1).map(Number) as [number, number, number];
    const isLeap = year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0);
    const days = [31, isLeap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
    return day >= 1 && day <= (days[month - 1] ?? 0);
  },
  time: (text) => {
    if (text.length > 64) return false;
    const match = /^(\d\d):(\d\d):(\d\d)(?:\.\d+)?(?:z|([+-])(\d\d):(\d\d))$/i.exec(text);
    if (!match) return false;
    const [hour, minute, second] = match.slice(1, 4).map(Number) as [number, number, number];
    const [offsetHour, offsetMinute] = [Number(match[5] ?? 0), Number(match[6] ?? 0)];
    if (hour > 23 || minute > 59 || second > 60 || offsetHour > 23 || offsetMinute > 59) return false;
    if (second < 60) return true;
    // A leap second is the last of a day in UTC.
    const offset = (match[4] === '-' ? -1 : 1) * (offsetHour * 60 + offsetMinute);
    return (hour * 60 + minute - offset + 1440) % 1440 === 1439;
  },
  'date-time': (text) => {
    if (text.length > 75) return false;
    const match = /^(\d{4})-(\d\d)-(\d\d)t(\d\d):(\d\d):(\d\d)(?:\.\d+)?(?:z|([+-])(\d\d):(\d\d))$/i.exec(
      text,
    );
    if (!match) return false;
    const [year, month, day] = match.slice(1, 4).map(Number) as [number, number, number];
    const isLeap = year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0);
    const days = [31, isLeap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
    if (day < 1 || day > (days[month - 1] ?? 0)) return false;
    const [hour, minute, second] = match.slice(4, 7).map(Number) as [number, number, number];
    const [offsetHour, offsetMinute] = [Number(match[8] ?? 0), Number(match[9] ?? 0)];
    if (hour > 23 || minute > 59 || second > 60 || offsetHour > 23 || offsetMinute > 59) return false;
    if (second < 60) return true;
    const offset = (match[7] === '-' ? -1 : 1) * (offsetHour * 60 + offsetMinute);
    return (hour * 60 + minute - offset + 1440) % 1440 === 1439;
  },
  duration: (text) =>
    text.length <= 100 &&
    // Without a look-ahead, which keeps the pattern from being proved to take linear time.
    !/[PT]$/.test(text) &&
    /^P(?:\d+W|(?:\d+Y)?(?:\d+M)?(?:\d+D)?(?:T(?:\d+H)?(?:\d+M)?(?:\d+(?:\.\d+)?S)?)?)$/.test(text),
  email: (text) => {
    if (text.length > 320) return false;
    const at = text.lastIndexOf('@');
    const [name, host] = [text.slice(0, at), text.slice(at + 1)];
    if (at < 1 || name.length > 64 || host.length > 253) return false;
    const isQuoted = /^"(?:[\x20-\x21\x23-\x5b\x5d-\x7e]|\\[\x20-\x7e])*"$/.test(name);
    const isPlain = name.split('.').every((part) => /^[\w!#$%&'*+/=?^`{|}~-]+$/.test(part));
    if (!isQuoted && !isPlain) return false;
    const literal = /^\[(?:IPv6:([\da-f:.]+)|([\d.]+))\]$/i.exec(host);
    if (literal) {
      const [, six, four = ''] = literal;
      if (six !== undefined) return URL.canParse(`http://[${six}]`);
      const bytes = four.split('.');
      return (
        bytes.length === 4 && bytes.every((byte) => /^(?:0|[1-9]\d{0,2})$/.test(byte) && Number(byte) < 256)
      );
    }
    return host.split('.').every((label) => {
      return label.length <= 63 && /^[a-z\d-]+$/i.test(label) && !/^-|-$/.test(label);
    });
  },
  uuid: (text) =>
    text.length === 36 && /^[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}$/i.test(text),
  uri: (text) => {
    if (text.length > 65_536 || !/^[a-z][a-z\d+.-]*:/i.test(text)) return false;
    if (/[^\x21-\x7e]|["<>\\^`{|}]|%(?![\da-f]{2})/i.test(text)) return false;
    const rest = text.slice(text.indexOf(':') + 1);
    if (rest.indexOf('#') !== rest.lastIndexOf('#')) return false;
    if (!rest.startsWith('//')) return !/[[\]]/.test(rest);
    const end = rest.slice(2).search(/[/?#]/);
    const authority = end < 0 ? rest.slice(2) : rest.slice(2, end + 2);
    if (/[[\]]/.test(rest.slice(2 + authority.length))) return false;
    const at = authority.indexOf('@');
    if (at !== authority.lastIndexOf('@') || /[[\]]/.test(authority.slice(0, at + 1))) return false;
    const host = authority.slice(at + 1);
    if (host.startsWith('[')) return host.length <= 100 && /^\[[\da-f:.]{2,}\](?::\d*)?$/i.test(host);
    return !/[[\]]/.test(host) && /^[^:]*(?::\d*)?$/.test(host);
  },
  hostname: (text) =>
    text.length <= 253 &&
    text.split('.').every((label) => {
      return label.length <= 63 && /^[a-z\d-]+$/i.test(label) && !/^-|-$/.test(label);
    }),
  ipv4: (text) => {
    if (text.length > 15) return false;
    const parts = text.split('.');
    return (
      parts.length === 4 && parts.every((part) => /^(?:0|[1-9]\d{0,2})$/.test(part) && Number(part) < 256)
    );
  },
  ipv6: (text) => {
    if (text.length > 45 || !text.includes(':')) return false;
    const halves = text.split('::');
    if (halves.length > 2) return false;
    let groups = 0;
    for (const [i, half] of halves.entries()) {
      const parts = half === '' ? [] : half.split(':');
      for (const [n, part] of parts.entries()) {
        const isLast = i === halves.length - 1 && n === parts.length - 1;
        if (isLast && part.includes('.')) {
          const bytes = part.split('.');
          const isByte = (byte: string) => /^(?:0|[1-9]\d{0,2})$/.test(byte) && Number(byte) < 256;
          if (bytes.length !== 4 || !bytes.every(isByte)) return false;
          groups += 2;
        } else {
          if (!/^[\da-f]{1,4}$/i.test(part)) return false;
          groups += 1;
        }
      }
    }
    return halves.length === 2 ? groups < 8 : groups === 8;
  },
};
