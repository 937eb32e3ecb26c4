/** Spellings of a way out of a folder, as a request's path may hold them: percent-encoded, or not. */
export const TRAVERSALS = [
  '..',
  '.',
  '%2e%2e',
  '%2E.',
  '..%2f..%2f..%2f..%2f..%2f..%2fetc%2fpasswd',
  '%2e%2e%2f%2e%2e%2fservice.sqlite',
  '..%5c..%5cservice.sqlite',
  '..\\..\\service.sqlite',
  '%2fetc%2fpasswd',
  'file:%2f%2f%2fetc%2fpasswd',
  '....%2f%2f....%2f%2fetc%2fpasswd',
  '%252e%252e%252fetc%252fpasswd',
  '..;%2f..;%2fetc%2fpasswd',
  '%c0%ae%c0%ae%c0%afetc%c0%afpasswd',
  '..%00',
  'service.sqlite%00.html',
  'outbox%2fmail.eml',
  '.data%2fservice.sqlite',
] as const;

/** Text that would be more than text to a database that is asked carelessly. */
export const SQL = [
  `' OR '1'='1`,
  `'; DROP TABLE drafts; --`,
  `x'); DELETE FROM versions; --`,
  `" OR ""="`,
  `' UNION SELECT token_hash FROM environment_tokens --`,
  `x' AND 1=randomblob(1000000000) --`,
  `%_`,
  `\\'; --`,
  `1; ATTACH DATABASE '/tmp/x' AS x`,
  `?1 $name :name @name`,
  `\u02bc OR 1=1`,
] as const;

/** Text that would be a line, a header or a command of a terminal of its own. */
export const LINES = [
  'a\r\nx-injected: yes',
  'a\nforged: a line of its own',
  'a\r\r\n\r\n<script>',
  'a\u2028forged',
  '\u001b[2J\u001b[1;31mforged',
  'a\u0085forged',
  'a\0b',
] as const;

/** JSON that would change every object there is, to a program that merges carelessly. */
export const polluting = (fields: object): string[] => {
  const text = JSON.stringify(fields).slice(1, -1);
  const more = text && `,${text}`;
  return [
    `{"__proto__":{"polluted":true}${more}}`,
    `{"constructor":{"prototype":{"polluted":true}}${more}}`,
    `{"__proto__":${JSON.stringify({ ...fields, polluted: true })}}`,
    `{"prototype":{"polluted":true},"__proto__.polluted":true,"toString":"polluted"${more}}`,
  ];
};
