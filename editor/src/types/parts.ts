// What only a namespace with types needs, as one part: it is loaded where there is one.

import './json-field.ts';
import './types.css';

export { schemaChanges } from './schema-changes.ts';
export { typesPanel } from './types-panel.ts';
