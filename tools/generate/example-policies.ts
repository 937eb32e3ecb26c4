/** A source that a page's content security policy has to allow. */
export interface Source {
  directive: string;
  source: string;
  /** What it is needed for, in the documentation. */
  why: string;
}

/** The origins in the examples. Tests replace them by real ones. */
export const HOST = 'https://app.example.com';
export const EDITOR = 'https://editor.example.com';
export const BUILDER = 'https://builder.example.com';

/** The directive that forbids to make scripts of text. */
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

/** The policy that allows exactly these sources but `without`. A directive whose only source that was allows nothing. */
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
