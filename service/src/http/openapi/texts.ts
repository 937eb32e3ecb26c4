import type { Tag } from '../operations/operation.ts';

export const documentDescription = `Write, build, test, deploy and run plugins.

Every error is JSON, \`{ error: { code, message, path?, requestId } }\`, and each operation names the codes that it can be refused
with. Beside those, any path answers 405 \`method-not-allowed\` to a method that it does not have, and what is at no path is 404
\`not-found\`. Fields of a request that are not named here are ignored, unless the operation says otherwise, and a response may
hold more than is named here. Every \`GET\` can be asked as \`HEAD\`, too.`;

export const tagDescriptions: Readonly<Record<Tag, string>> = {
  builder: 'For editors: templates, drafts, builds, tests and deploys.',
  access: 'Editor tokens, in exchange for an environment token.',
  execution: 'Runs of what is deployed.',
  environment: 'For a vendor’s back end: tenants, plugins, versions, runs and tokens.',
  types: 'The types of the input and output of a namespace’s plugins.',
  libraries: 'The ES modules that plugins may import, where their namespaces name them.',
  connections: 'What plugins may reach: values for it, and the keys that verify who asks.',
  webhooks: 'Events for a vendor’s back end, sent as Standard Webhooks says.',
  agents: 'Tools for agents.',
  service: 'The service itself.',
};

export const securitySchemes = {
  editorToken: {
    type: 'http',
    scheme: 'bearer',
    description: 'A token for plugins of one tenant, which an editor may have. It lives for minutes.',
  },
  environmentToken: {
    type: 'http',
    scheme: 'bearer',
    description: 'A vendor’s token for all of its environment. It must never reach a browser.',
  },
} as const;
