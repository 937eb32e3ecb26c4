import type { Language } from '../language.ts';
import { stringLiteral } from '../source-text.ts';

const javascript: Language = {
  identifier: 'javascript',
  pretty: 'JavaScript',
  short: 'js',
  template: ({ pluginName, namespace }) => ({
    lang: 'javascript',
    contents: `const plugin = {
  name: ${stringLiteral(pluginName)},
  namespace: ${stringLiteral(namespace)},
};

/**
 * Runs each time the plugin is called.
 * @param {string} input what the caller sent
 * @returns {string} what the caller gets back
 */
export function run(input) {
  const name = input.trim() || "world";
  return \`Hello, \${name}! This is \${plugin.name} in \${plugin.namespace}.\`;
}
`,
    tests: [
      { name: 'Greets by name', description: 'The input is the name to greet.', payload: 'Ada' },
      { name: 'Greets the world', description: 'Without a name, everyone is greeted.', payload: '' },
    ],
  }),
};

export default javascript;
