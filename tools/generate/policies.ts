import { format, resolveConfig } from 'prettier';

import { type Source, editorSources, hostSources, policy } from './example-policies.ts';

// The page on policies, from the table that the tests of strict pages use.

/** The page, as a path from the root of the repository. */
export const POLICIES_PAGE = 'docs/guides/content-security-policy.md';
const section = /(<!-- begin policies -->\n)[^]*?(\n<!-- end policies -->)/;

/** What stands between the page's markers `begin policies` and `end policies`, formatted as the page is. */
export async function policiesSection(): Promise<string> {
  const text = `
Nothing inline, no \`unsafe-inline\`, no \`unsafe-eval\`. These are whole policies, as strict as they can be, and tested in
Chromium, Firefox and WebKit: each source is needed, and nothing else is. What else your page shows or does needs more.

Your page (in one line; each needs your addresses in place of these):

${described(hostSources)}

\`lit-html\` is the name of Lit's policy for Trusted Types; where more than one copy of Lit is on the page, add
\`'allow-duplicates'\` to it.

The editor's page, which you serve if the editor is your own:

${described(editorSources)}
`;
  return format(text, { ...(await resolveConfig(POLICIES_PAGE)), parser: 'markdown' });
}

/** The page with this section in it. */
export const withPolicies = async (text: string): Promise<string> => {
  if (!section.test(text))
    throw new Error(`${POLICIES_PAGE} has no markers "begin policies" and "end policies".`);
  const content = await policiesSection();
  return text.replace(section, (_, begin: string, end: string) => `${begin}\n${content}${end}`);
};

const described = (sources: readonly Source[]): string => `
\`\`\`http
Content-Security-Policy: ${policy(sources).replaceAll('; ', ';\n  ')}
\`\`\`

| source | for |
| --- | --- |
${sources.map(({ directive, source, why }) => `| \`${directive} ${source}\` | ${why} |`).join('\n')}
`;
