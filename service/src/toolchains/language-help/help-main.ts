import { reasonOf, serveTool } from '../process/serve-tool.ts';
import { textTypes } from '../types/declarations.ts';
import { answerQuestion } from './answer.ts';
import { decodeQuestion, questionLimit } from './help-protocol.ts';
import type { HelpEnd, HelpQuestion } from './help-protocol.ts';
import { LanguageServer } from './language-server.ts';
import { PluginFiles, rootUri } from './plugin-files.ts';

/* The program of a process of language help: answers the questions that it is sent. */

await serveTool(async () => {
  const server = new LanguageServer();
  await server.start(rootUri);
  const files = new PluginFiles(server);
  for (const language of ['javascript', 'typescript'] as const) {
    await answerQuestion(server, files, trial(language));
  }
  return async (text) => {
    let end: HelpEnd;
    try {
      end = { result: await answerQuestion(server, files, decodeQuestion(text)) };
    } catch (error) {
      end = { failed: reasonOf(error).slice(0, 1000) };
    }
    return JSON.stringify(end);
  };
}, questionLimit);

function trial(language: HelpQuestion['language']): HelpQuestion {
  return {
    language,
    contents: 'export const run = (input) => input.trim();',
    types: textTypes,
    request: { method: 'textDocument/completion', params: { position: { line: 0, character: 36 } } },
  };
}
