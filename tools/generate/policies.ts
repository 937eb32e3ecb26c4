import { format, resolveConfig } from 'prettier';

import { type Source, editorSources, hostSources, policy } from './example-policies.ts';

// Generates the page on policies from the sources that the tests of strict pages use.

/** The path of the page from the root of the repository. */
export const POLICIES_PAGE = 'docs/guides/content-security-policy.md';
const section = /(<!-- begin policies -->\n)[^]*?(\n<!-- end policies -->)/;

/** The section between the page's markers `begin policies` and `end policies`, formatted. */
async function policiesSection(): Promise<string> {
  const text = `
These are whole policies for your page and for an editor of your own, as strict as they can be: nothing inline, no
\`unsafe-inline\`, no \`unsafe-eval\`. They are tested in Chromium, Firefox and WebKit: each source is needed, and no other is. If
your page does more than show the elements, it needs more sources.

This is the policy of your page. Send it in one line, with your own addresses:

${described(hostSources)}

\`lit-html\` is the name of Lit's policy for Trusted Types; if more than one copy of Lit is on the page, add
\`'allow-duplicates'\`.

This is the policy of the editor's page, if you serve an editor of your own:

${described(editorSources)}
`;
  return format(text, { ...(await resolveConfig(POLICIES_PAGE)), parser: 'markdown' });
}

/** Replaces the section in the text of the page. */
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
