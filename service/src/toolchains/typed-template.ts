import type { Connection } from '../plugins/connections.ts';
import { escapeUnits } from './source-text.ts';

/*
 * The parts that the templates of JavaScript and TypeScript share.
 */

/** What a template names of a connection. */
export type ReachableConnection = Pick<
  Connection,
  'name' | 'description' | 'origin' | 'pathPrefix' | 'methods'
>;

const runs =
  'Runs each time the plugin is called: takes what the caller sent, returns what the caller gets back.';

/** The comment of `run`, which also names what it may reach. */
export function runComment(connections: readonly ReachableConnection[], isTyped = false): string {
  if (!isTyped && !connections.length) return `/** ${runs} */\n`;
  const lines = isTyped ? [`${runs} The types`, 'Input and Output of the namespace describe both.'] : [runs];
  if (connections.length) {
    lines.push('', 'It may make these requests, with `await fetch(url)`:', ...connections.map(describe));
  }
  return `/**\n${lines.map((line) => ` * ${line}`.trimEnd()).join('\n')}\n */\n`;
}

function describe({ name, description, origin, pathPrefix = '/', methods = ['GET'] }: ReachableConnection) {
  const text = `- ${methods.join(', ')} ${origin}${pathPrefix}: ${description ?? name}`;
  return escapeInvisible(text.replace(/\s+/g, ' ').replaceAll('*/', '* /'));
}

/** The body of a function that returns a value, given as JSON. Without a value it throws. */
export function returnStatement(json: string | undefined): string {
  // In an object literal, `__proto__` sets the prototype and makes no property.
  if (json === undefined || json.includes('"__proto__"')) {
    return "  throw new Error('This plugin is not written yet.');";
  }
  return `  return ${formatJson(json).replaceAll('\n', '\n  ')};`;
}

/** Indents JSON, and escapes invisible characters. */
const formatJson = (json: string) => escapeInvisible(JSON.stringify(JSON.parse(json), null, 2));

const escapeInvisible = (text: string) => text.replace(/[^\P{C}\n]|[\p{Zl}\p{Zp}]/gu, escapeUnits);
