import { canonicalJson } from '../plugin/source.ts';
import {
  type Schema,
  type SchemaParts,
  type Schemas,
  memberParts,
  partsOf,
  propertiesOf,
  requiredOf,
  typeLabel,
} from './schema.ts';

/** One change of a schema. */
export interface SchemaChange {
  /** Where, as one writes it in TypeScript: `Input.lines[].sku`. */
  path: string;
  kind: 'added' | 'removed' | 'type' | 'required' | 'optional' | 'rules';
  /** What it was and what it is, where that is what changed. */
  was?: string;
  is?: string;
}

/** How deep schemas are compared at most: a schema may refer to itself. */
const MAX_DEPTH = 12;

/** The changes of the schemas of a namespace; none where they are the same. */
export function schemaChanges(was: Schemas, is: Schemas): SchemaChange[] {
  return [...changesOf('Input', was.input, is.input), ...changesOf('Output', was.output, is.output)];
}

function changesOf(name: string, was: Schema | undefined, is: Schema | undefined): SchemaChange[] {
  if (canonicalJson(was) === canonicalJson(is)) return [];
  if (was === undefined) return [{ path: name, kind: 'added' }];
  if (is === undefined) return [{ path: name, kind: 'removed' }];
  const found: SchemaChange[] = [];
  compare({ root: was, parts: partsOf(was, was) }, { root: is, parts: partsOf(is, is) }, name, 0, found);
  // The documents differ, but no field does: a limit, a pattern or a description changed.
  return found.length ? found : [{ path: name, kind: 'rules' }];
}

interface SchemaAtPath {
  root: Schema;
  parts: SchemaParts;
}

function compare(
  was: SchemaAtPath,
  is: SchemaAtPath,
  path: string,
  depth: number,
  found: SchemaChange[],
): void {
  const [before, after] = [typeLabel(was.parts), typeLabel(is.parts)];
  if (before !== after) found.push({ path, kind: 'type', was: before || 'any', is: after || 'any' });
  if (depth > MAX_DEPTH) return;
  const inner = ({ root, parts }: SchemaAtPath, name: string): SchemaAtPath => ({
    root,
    parts: memberParts(root, parts, name),
  });
  const [old, now] = [new Set(propertiesOf(was.parts)), new Set(propertiesOf(is.parts))];
  const [oldRequired, nowRequired] = [requiredOf(was.parts), requiredOf(is.parts)];
  for (const name of new Set([...old, ...now])) {
    const place = `${path}.${name}`;
    if (!old.has(name)) {
      found.push({ path: place, kind: 'added', is: typeLabel(inner(is, name).parts) });
    } else if (!now.has(name)) {
      found.push({ path: place, kind: 'removed', was: typeLabel(inner(was, name).parts) });
    } else {
      if (oldRequired.has(name) !== nowRequired.has(name)) {
        found.push({ path: place, kind: nowRequired.has(name) ? 'required' : 'optional' });
      }
      compare(inner(was, name), inner(is, name), place, depth + 1, found);
    }
  }
  const [oldEntry, nowEntry] = [inner(was, '0'), inner(is, '0')];
  const isList = (parts: SchemaParts) => parts.some((part) => 'items' in part || 'prefixItems' in part);
  if (isList(was.parts) && isList(is.parts)) compare(oldEntry, nowEntry, `${path}[]`, depth + 1, found);
}
