// What only a namespace with types needs, as one chunk that is loaded where the namespace has types.

import './json-field.ts';
import './types.css';

export { schemaChanges } from './schema-changes.ts';
export { typesPanel } from './types-panel.ts';
