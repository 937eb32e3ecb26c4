import * as z from 'zod';
import { createToken } from '../accounts/tokens.ts';
import type { ServiceInterface } from './context.ts';
import { json } from './operations/answers.ts';
import { operation } from './operations/operation.ts';

const editorToken = z
  .object({
    token: z.string().min(1).meta({ description: 'An editor token for the plugin.' }),
    expires_in: z.int().positive().meta({ description: 'For how many seconds it is good.' }),
  })
  .meta({ id: 'EditorToken' });

/** The access interface: an editor token for one plugin, in exchange for an environment token. */
export const access: ServiceInterface = {
  operations: [
    operation({
      id: 'createEditorToken',
      method: 'GET',
      path: '/auth/v2/access/:identifier/:namespace/:ext',
      summary: 'Get an editor token for a plugin',
      tag: 'access',
      auth: 'environment',
      answers: { 200: json(editorToken, { description: 'A new token.' }) },
      handle: async ({ target }, { storage, now, editorTokenTtl }) => {
        const token = createToken('editor');
        await storage.tables.editorTokens.add(token, target, now(), now() + editorTokenTtl * 1000);
        return { status: 200, body: { token, expires_in: editorTokenTtl } };
      },
    }),
  ],
};
