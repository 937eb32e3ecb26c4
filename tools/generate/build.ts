/**
 * The last step of `npm run build`: writes the generated files that are not committed into dist/, and copies the types of
 * frameworks.
 */
import { cpSync, readFileSync, writeFileSync } from 'node:fs';

import { toolFiles } from './editor-data.ts';
import { createManifest } from './manifest.ts';

const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string };

for (const [path, text] of toolFiles(createManifest(), version)) writeFileSync(`dist/${path}`, text);
cpSync('src/types', 'dist/types', { recursive: true });
