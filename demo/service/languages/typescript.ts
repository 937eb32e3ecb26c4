import type { Language } from '../language.ts';
import { stringLiteral } from '../source-text.ts';

const typescript: Language = {
  identifier: 'typescript',
  pretty: 'TypeScript',
  short: 'ts',
  template: ({ pluginName, namespace }) => ({
    lang: 'typescript',
    contents: `const plugin = {
  name: ${stringLiteral(pluginName)},
  namespace: ${stringLiteral(namespace)},
};

/** Runs each time the plugin is called: takes what the caller sent, returns what the caller gets back. */
export function run(input: string): string {
  const name: string = input.trim() || "world";
  return \`Hello, \${name}! This is \${plugin.name} in \${plugin.namespace}.\`;
}
`,
    tests: [
      { name: 'Greets by name', description: 'The input is the name to greet.', payload: 'Ada' },
      { name: 'Greets the world', description: 'Without a name, everyone is greeted.', payload: '' },
    ],
  }),
};

export default typescript;
