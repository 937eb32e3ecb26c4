/** The features and languages of the service behind the site's live elements. The site serves them as a file. */
export const features = {
  features: ['testing', 'stream_builds'],
  languages: [
    { identifier: 'javascript', pretty: 'JavaScript', short: 'JS' },
    { identifier: 'typescript', pretty: 'TypeScript', short: 'TS' },
    { identifier: 'assemblyscript', pretty: 'AssemblyScript', short: 'AS' },
  ],
};

/** The path of that file in the site: it is that of the builder interface's operation, below the address of the service. */
export const FEATURES_PATH = 'example-service/api/v1/features';
