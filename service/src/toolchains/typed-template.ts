import { isWildcard } from '../plugins/connections.ts';
import type { Connection } from '../plugins/connections.ts';
import type { Language } from './language.ts';
import { escapeUnits, stringLiteral } from './source-text.ts';

/*
 * The parts that the templates of JavaScript and TypeScript share.
 */

/** What a template names of a connection. */
export type ReachableConnection = Pick<
  Connection,
  'name' | 'description' | 'origin' | 'pathPrefix' | 'methods'
>;

/** The templates of a language in which the signature of `run` may state types. */
export function scriptTemplates(
  lang: 'javascript' | 'typescript',
): Pick<Language, 'template' | 'typedTemplate'> {
  /** Returns the text in TypeScript, and nothing in JavaScript. */
  const typed = (text: string) => (lang === 'typescript' ? text : '');
  const signature = (connections: readonly ReachableConnection[], input: string, output: string) =>
    connections.length
      ? `export async function run(input${typed(`: ${input}`)})${typed(`: Promise<${output}>`)}`
      : `export function run(input${typed(`: ${input}`)})${typed(`: ${output}`)}`;
  return {
    template: ({ pluginName, namespace, connections = [] }) => ({
      lang,
      contents: `const plugin = {
  name: ${stringLiteral(pluginName)},
  namespace: ${stringLiteral(namespace)},
};

${runComment(connections)}${signature(connections, 'string', 'string')} {
  const name${typed(': string')} = input.trim() || "world";
  return \`Hello, \${name}! This is \${plugin.name} in \${plugin.namespace}.\`;
}
`,
      tests: [
        { name: 'Greets by name', description: 'The input is the name to greet.', payload: 'Ada' },
        { name: 'Greets the world', description: 'Without a name, everyone is greeted.', payload: '' },
      ],
    }),
    typedTemplate: ({
      output,
      connections = [],
    }) => `${runComment(connections, true)}${signature(connections, 'Input', 'Output')} {
${returnStatement(output)}
}
`,
  };
}

const runs =
  'Runs each time the plugin is called: takes what the caller sent, returns what the caller gets back.';

/** The comment of `run`, which also names what it may reach. */
function runComment(connections: readonly ReachableConnection[], isTyped = false): string {
  if (!isTyped && !connections.length) return `/** ${runs} */\n`;
  const lines = isTyped ? [`${runs} The types`, 'Input and Output of the namespace describe both.'] : [runs];
  if (connections.length) {
    lines.push(
      '',
      'It may request these addresses and the paths below them, with `await fetch(url)`:',
      ...connections.map(describe),
    );
  }
  return `/**\n${lines.map((line) => ` * ${line}`.trimEnd()).join('\n')}\n */\n`;
}

function describe(connection: ReachableConnection) {
  const { name, description, origin, pathPrefix = '/', methods = ['GET'] } = connection;
  const condition = isWildcard(connection) ? ' (once the tenant has an origin for it)' : '';
  const text = `- ${methods.join(', ')} ${origin}${pathPrefix}: ${description ?? name}${condition}`;
  return escapeInvisible(text.replace(/\s+/g, ' ').replaceAll('*/', '* /'));
}

/** The body of a function that returns a value, given as JSON. Without a value it throws. */
function returnStatement(json: string | undefined): string {
  // In an object literal, `__proto__` sets the prototype and makes no property.
  if (json === undefined || json.includes('"__proto__"')) {
    return "  throw new Error('This plugin is not written yet.');";
  }
  return `  return ${formatJson(json).replaceAll('\n', '\n  ')};`;
}

/** Indents JSON, and escapes invisible characters. */
const formatJson = (json: string) => escapeInvisible(JSON.stringify(JSON.parse(json), null, 2));

const escapeInvisible = (text: string) => text.replace(/[^\P{C}\n]|[\p{Zl}\p{Zp}]/gu, escapeUnits);
