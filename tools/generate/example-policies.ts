/** One source that a page's content security policy has to allow, and what it is for. */
export interface Source {
  directive: string;
  source: string;
  /** What does not work without it, as the documentation says it. */
  why: string;
}

/** Example origins, which tests put real ones in the place of. */
export const HOST = 'https://app.example.com';
export const EDITOR = 'https://editor.example.com';
export const BUILDER = 'https://builder.example.com';

/** What a policy forbids beside all that it does not allow: text that becomes script. */
const TRUSTED_TYPES = ['require-trusted-types-for', "'script'"] as const;

export const hostSources: readonly Source[] = [
  {
    directive: 'script-src',
    source: "'self'",
    why: 'the script with the elements; where it comes from another site, that site',
  },
  { directive: 'connect-src', source: "'self'", why: 'the token endpoint' },
  { directive: 'connect-src', source: BUILDER, why: 'the languages of `<plugin-features>`' },
  { directive: 'frame-src', source: EDITOR, why: "the editor's frame" },
  { directive: 'trusted-types', source: 'lit-html', why: "the elements' templates, which Lit makes" },
];

export const editorSources: readonly Source[] = [
  { directive: 'script-src', source: "'self'", why: "the editor's own scripts, `editor.js` among them" },
  { directive: 'connect-src', source: BUILDER, why: 'drafts, builds and tests' },
  { directive: 'frame-ancestors', source: HOST, why: 'being in a frame of your app, and of no other page' },
];

/** A policy of these sources and no other; a directive that has lost all of them allows nothing. */
export function policy(
  sources: readonly Source[],
  origins: Record<string, string> = {},
  without?: Source,
): string {
  const directives = new Map<string, string[]>([['default-src', []]]);
  for (const one of sources) {
    const allowed = directives.get(one.directive) ?? [];
    directives.set(one.directive, allowed);
    if (one !== without) allowed.push(origins[one.source] ?? one.source);
  }
  directives.set(TRUSTED_TYPES[0], [TRUSTED_TYPES[1]]);
  return [...directives].map(([name, allowed]) => `${name} ${allowed.join(' ') || "'none'"}`).join('; ');
}
