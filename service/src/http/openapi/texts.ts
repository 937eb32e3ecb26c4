import type { Tag } from '../operations/operation.ts';

export const documentDescription = `Write, build, test, deploy and run plugins.

Every error is JSON, \`{ error: { code, message, path?, requestId } }\`. Each operation names its codes. Besides, any path answers 405
\`method-not-allowed\` to a method that it does not have, and an unknown path is 404 \`not-found\`. Unknown fields of a request are
ignored, unless the operation says otherwise. A response may have more fields than are named here. Every \`GET\` also takes \`HEAD\`.`;

export const tagDescriptions: Readonly<Record<Tag, string>> = {
  builder: 'For editors: templates, drafts, builds, tests and deploys.',
  access: 'Editor tokens for an environment token.',
  execution: 'Runs of deployed plugins.',
  environment: 'For a vendor’s back end: tenants, plugins, versions, runs and tokens.',
  types: 'The types of the input and output of a namespace’s plugins.',
  libraries: 'ES modules that plugins may import if their namespaces name them.',
  connections: 'Values for the connections of namespaces, and the keys that verify the identity of a plugin.',
  webhooks: 'Events for a vendor’s back end, sent as in Standard Webhooks.',
  agents: 'Tools for agents.',
  service: 'The service itself.',
};

export const securitySchemes = {
  editorToken: {
    type: 'http',
    scheme: 'bearer',
    description: 'A token for plugins of one tenant, for an editor. By default it lives 15 minutes.',
  },
  environmentToken: {
    type: 'http',
    scheme: 'bearer',
    description: 'A vendor’s token for all of its environment. It must never reach a browser.',
  },
} as const;
