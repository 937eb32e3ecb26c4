import { stringLiteral } from '../source-text.ts';

/** The name of a property as it is written in a type. */
export const propertyName = (name: string): string =>
  /^[A-Za-z_$][\w$]*$/.test(name) ? name : stringLiteral(name);

/** How long the comment of one part may be, in characters. */
const longestComment = 2000;

/**
 * The doc comment of a part of a schema, with its line break; empty where the part has no title or description. Invisible
 * characters are removed, and an end of a comment in the text is escaped.
 */
export function commentOf(keywords: Readonly<Record<string, unknown>>, indent: string): string {
  const { title, description, deprecated } = keywords;
  const texts = [title, description].filter((text) => typeof text === 'string').map(shown);
  if (deprecated === true) texts.push('@deprecated');
  const lines = texts.filter(Boolean).join('\n\n').split('\n');
  if (lines.length === 1) return lines[0] ? `${indent}/** ${lines[0]} */\n` : '';
  return `${indent}/**\n${lines.map((line) => `${indent} *${line && ` ${line}`}\n`).join('')}${indent} */\n`;
}

const shown = (text: string) =>
  text
    .slice(0, longestComment)
    .toWellFormed()
    .replace(/\r\n?|[\u2028\u2029]/g, '\n')
    .replace(/[^\P{C}\n]/gu, ' ')
    .replaceAll('*/', '*\\/')
    .split('\n')
    .map((line) => line.trimEnd())
    .join('\n')
    .trim();
