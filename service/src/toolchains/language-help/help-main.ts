import { describeError, serveTool } from '../process/serve-tool.ts';
import { textTypes } from '../types/declarations.ts';
import { doHelpJob } from './help-job.ts';
import { decodeJob, jobLimit } from './help-protocol.ts';
import type { HelpOutcome, HelpJob } from './help-protocol.ts';
import { LanguageServer } from './language-server.ts';
import { PluginFiles, rootUri } from './plugin-files.ts';

/* The program of a process of language help: does the jobs that it is sent. */

await serveTool(async () => {
  const server = new LanguageServer();
  await server.start(rootUri);
  const files = new PluginFiles(server);
  for (const language of ['javascript', 'typescript'] as const) {
    await doHelpJob(server, files, trial(language));
  }
  return async (text) => {
    let outcome: HelpOutcome;
    try {
      outcome = { result: await doHelpJob(server, files, decodeJob(text)) };
    } catch (error) {
      outcome = { failed: describeError(error).slice(0, 1000) };
    }
    return JSON.stringify(outcome);
  };
}, jobLimit);

function trial(language: HelpJob['language']): HelpJob {
  return {
    language,
    contents: 'export const run = (input) => input.trim();',
    types: textTypes,
    request: { method: 'textDocument/completion', params: { position: { line: 0, character: 36 } } },
  };
}
