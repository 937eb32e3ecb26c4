/** What the builder of the site's live elements supports; it is a file of the site. */
export const features = {
  features: ['testing', 'stream_builds'],
  languages: [
    { identifier: 'javascript', pretty: 'JavaScript', short: 'JS' },
    { identifier: 'typescript', pretty: 'TypeScript', short: 'TS' },
    { identifier: 'assemblyscript', pretty: 'AssemblyScript', short: 'AS' },
  ],
};

/** Where its builder interface answers with them, from the root of the site. */
export const FEATURES_PATH = 'stand-in-builder/api/v1/features';
