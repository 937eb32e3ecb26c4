import type { PluginMessage } from './conversation.ts';

/**
 * What an editor said, with no token in its words: they go into events and views. What is not plain JSON is nothing.
 * Texts so short are no secrets, and may be part of any word.
 */
export function withoutTokens(message: PluginMessage, tokens: Iterable<string>): PluginMessage | undefined {
  try {
    return JSON.parse(JSON.stringify(message), (key, value: unknown) => {
      if (key === 'type' || typeof value !== 'string') return value;
      let text = value;
      for (const token of tokens) if (token.length > 4) text = text.replaceAll(token, '…');
      return text;
    }) as PluginMessage;
  } catch {
    return undefined;
  }
}
