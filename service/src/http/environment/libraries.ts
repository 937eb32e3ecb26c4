import * as z from 'zod';
import { writeAudit } from '../../audit/entries.ts';
import type { AuditStamp } from '../../audit/entries.ts';
import { maxLibraries } from '../../plugins/libraries.ts';
import type { Library } from '../../plugins/libraries.ts';
import { loadedProgram } from '../../plugins/program.ts';
import {
  addLibrary,
  compareLibrary,
  countLibraries,
  deleteLibrary,
  findLibrary,
  findNamespaceWith,
  listLibraries,
  lockLibraries,
} from '../../storage/tables/libraries.ts';
import type { LibraryKey, LibraryRecord } from '../../storage/tables/libraries.ts';
import { bytesInWords, mebibyte } from '../../units.ts';
import { auditStamp } from '../audit-stamp.ts';
import type { ServiceContext, ServiceInterface } from '../context.ts';
import { notFound, ServiceError } from '../errors.ts';
import { jsonBody } from '../operations/bodies.ts';
import { operation } from '../operations/operation.ts';
import type { Operation } from '../operations/operation.ts';
import { empty, json } from '../operations/responses.ts';
import { pageQuery, pagingBy } from '../paging.ts';
import { translateBusyErrors } from '../run-errors.ts';
import { timeSchema, toTime } from './plugin-details.ts';

const listPath = '/api/v1/environment/:environment/libraries';

/** How long a library may be, in bytes. */
const maxContents = mebibyte;

/** How long its declarations may be, in bytes. */
export const maxDeclarations = mebibyte / 2;

const text = (max: number) =>
  z.string().refine((value) => Buffer.byteLength(value) <= max, `must have at most ${max} bytes`);

const details = {
  contents: text(maxContents).meta({
    description: `An ES module that imports nothing, at most ${bytesInWords(maxContents)}.`,
  }),
  declarations: text(maxDeclarations)
    .optional()
    .meta({
      description: `Its types in TypeScript, as in a \`.d.ts\` file, at most ${bytesInWords(maxDeclarations)}.`,
    }),
  description: z.string().max(4000).optional(),
};

const librarySchema = z
  .object(details)
  .meta({ id: 'Library', examples: [{ contents: 'export const vat = 0.2;' }] });

const record = {
  name: z.string().meta({ examples: ['decimal.js'] }),
  version: z.string().meta({ examples: ['10.6.0'] }),
  bytes: z.int().min(0).meta({ description: 'The size of `contents`.' }),
  createdAt: timeSchema,
};

const recordSchema = z.object(record).meta({ id: 'LibraryRecord' });

const publishedSchema = z.object({ ...record, ...details }).meta({ id: 'PublishedLibrary' });

const listSchema = z
  .object({ libraries: z.array(recordSchema), next: z.string().optional() })
  .meta({ id: 'LibraryList' });

const body = jsonBody(librarySchema, {
  description: 'The module and its types.',
  // JSON may escape a line break or a quotation mark in two characters.
  limit: 2 * (maxContents + maxDeclarations),
});

const pageOf = pagingBy('text', 'text');

/** The ES modules that plugins may import, where their namespaces name them. */
export const libraries: ServiceInterface = {
  operations: [
    operation({
      id: 'listLibraries',
      method: 'GET',
      path: listPath,
      summary: 'List the libraries',
      description: 'Sorted by the bytes of name and version.',
      tag: 'libraries',
      auth: 'environment',
      scope: 'read',
      query: z.object(pageQuery()),
      responses: {
        200: json(listSchema, { description: 'A page of the libraries, without their contents.' }),
      },
      handle: async ({ target: { environment }, query }, { storage }) => {
        const page = pageOf({ operation: 'listLibraries', filter: { environment } }, query);
        const found = await listLibraries(storage.db, environment, page);
        const { items, next } = page.of(found, ({ name, version }) => [name, version], toRecord);
        return { status: 200, body: { libraries: items, ...next } };
      },
    }),
    ...operationsOf(`${listPath}/:library/:libraryVersion`, 'Library', ''),
    ...operationsOf(
      `${listPath}/:scope/:library/:libraryVersion`,
      'ScopedLibrary',
      ' whose name has a scope',
    ),
  ],
};

/** The operations on one version of a library. Their paths differ, since a name with a scope is two segments. */
function operationsOf(
  path: `${typeof listPath}/:library/:libraryVersion` | `${typeof listPath}/:scope/:library/:libraryVersion`,
  noun: string,
  which: string,
): readonly Operation[] {
  return [
    operation({
      id: `get${noun}`,
      method: 'GET',
      path,
      summary: `Read a version of a library${which}`,
      tag: 'libraries',
      auth: 'environment',
      scope: 'read',
      responses: {
        200: json(publishedSchema, { description: 'The library.' }),
      },
      errors: { 404: ['library-not-found'] },
      handle: async ({ target, path: names }, { storage }) => {
        const found = await findLibrary(storage.db, keyOf(target.environment, names));
        if (!found) throw libraryNotFound();
        return { status: 200, body: { ...found, ...toRecord(found) } };
      },
    }),
    operation({
      id: `put${noun}`,
      method: 'PUT',
      path,
      summary: `Publish a version of a library${which}`,
      description:
        'A version never changes: to publish the same again does nothing, and a deleted version can only be published again with the same contents. The service loads the module once in the sandbox to check it.',
      tag: 'libraries',
      auth: 'environment',
      scope: 'manage',
      body,
      responses: {
        200: json(recordSchema, { description: 'The same was published before.' }),
        201: json(recordSchema, { description: 'The version is published.' }),
      },
      errors: {
        403: ['too-many-libraries'],
        409: ['library-exists'],
        503: ['busy', 'cancelled'],
      },
      handle: ({ c, target, caller, path: names, body: library }, context) =>
        publish(
          context,
          keyOf(target.environment, names),
          library,
          auditStamp(c, caller, context),
          c.req.raw.signal,
        ),
    }),
    operation({
      id: `delete${noun}`,
      method: 'DELETE',
      path,
      summary: `Delete a version of a library${which}`,
      description:
        'Plugin versions that were built with it keep it. A library that a namespace names cannot be deleted.',
      tag: 'libraries',
      auth: 'environment',
      scope: 'manage',
      responses: { 204: empty({ description: 'The version was deleted.' }) },
      errors: { 404: ['library-not-found'], 409: ['library-in-use'] },
      handle: async ({ c, target, caller, path: names }, context) => {
        const key = keyOf(target.environment, names);
        const stamp = auditStamp(c, caller, context);
        await context.storage.transaction(async (db) => {
          await lockLibraries(db, key.environment);
          const user = await findNamespaceWith(db, key);
          if (user !== undefined) {
            const message = `The namespace "${user}" names this version; set another or none there first.`;
            throw new ServiceError(409, 'library-in-use', message);
          }
          if (!(await deleteLibrary(db, key, context.now()))) throw libraryNotFound();
          await writeAudit(db, { ...stamp, action: 'library.deleted', ...entryOf(key) });
        });
        return { status: 204 };
      },
    }),
  ];
}

const keyOf = (
  environment: string,
  { scope, library, libraryVersion }: Readonly<Record<string, string>>,
): LibraryKey => ({
  environment,
  name: scope === undefined ? (library ?? '') : `${scope}/${library}`,
  version: libraryVersion ?? '',
});

const entryOf = ({ environment, name, version }: LibraryKey) => ({
  target: { environment },
  details: { library: name, libraryVersion: version },
});

async function publish(
  context: ServiceContext,
  key: LibraryKey,
  library: Library,
  stamp: AuditStamp,
  signal: AbortSignal,
): Promise<{ status: 200 | 201; body: z.input<typeof recordSchema> }> {
  const { storage, now } = context;
  // Before the check, which takes long, and again when it is added.
  const before = await findPublished(context, key, library);
  if (before) return { status: 200, body: before };
  const exported = await checkLibrary(context, key, library, signal);
  return storage.transaction(async (db) => {
    await lockLibraries(db, key.environment);
    const found = await findPublished({ storage: { db } }, key, library);
    if (found) return { status: 200, body: found };
    if ((await countLibraries(db, key.environment)) >= maxLibraries) {
      const message = `The environment has ${maxLibraries} libraries, each version being one, which is the limit.`;
      throw new ServiceError(403, 'too-many-libraries', message);
    }
    const added = await addLibrary(db, key, library, exported, now());
    await writeAudit(db, { ...stamp, action: 'library.published', ...entryOf(key) });
    return { status: 201, body: toRecord(added) };
  });
}

/** The record of a library that was published before. Throws 409 for one that was another. */
async function findPublished(
  { storage: { db } }: { readonly storage: Pick<ServiceContext['storage'], 'db'> },
  key: LibraryKey,
  library: Library,
): Promise<z.input<typeof recordSchema> | undefined> {
  const compared = await compareLibrary(db, key, library);
  if (compared === 'missing') return undefined;
  const found = await findLibrary(db, key);
  // Where it is not found it was deleted since it was compared.
  if (compared === 'equal') return found && toRecord(found);
  // Of a deleted one only the digest is left.
  const differing = (['contents', 'declarations', 'description'] as const).filter(
    (part) => found && found[part] !== library[part],
  );
  const how = found
    ? `is published already, and differs in its ${differing.join(' and ')}`
    : 'was published and deleted, and was not the same';
  const message = `${key.name} ${key.version} ${how}. A version never changes: publish this as another one.`;
  throw new ServiceError(409, 'library-exists', message);
}

/** The names that a library exports. Throws 422 for what plugins could not import. */
async function checkLibrary(
  context: ServiceContext,
  { environment, name }: LibraryKey,
  { contents, declarations }: Library,
  signal: AbortSignal,
): Promise<readonly string[]> {
  return translateBusyErrors('vendor', async () => {
    const outcome = await context.libraryChecker.check({ contents, declarations }, environment, signal);
    if ('failed' in outcome) throw invalidLibrary('contents', outcome.failed);
    if ('invalid' in outcome) throw invalidLibrary(outcome.invalid, outcome.message);
    // Loaded once, because one that needs a browser or Node compiles as well.
    const program = loadedProgram({
      kind: 'script',
      code: `import ${JSON.stringify(name)};\nexport const run = () => '';`,
      file: 'plugin.js',
      libraries: { [name]: contents },
    });
    const owner = { environment, tenant: '', token: '' };
    const loaded = await context.sandbox.run({ program, input: '', owner, signal: () => signal });
    if ('error' in loaded)
      throw invalidLibrary('contents', `cannot be loaded in the sandbox: ${loaded.error.message}`);
    return outcome.exports;
  });
}

const invalidLibrary = (part: 'contents' | 'declarations', message: string) =>
  new ServiceError(422, 'invalid-body', `${part}: ${message}.`.replace(/\.\.$/, '.'), { path: `/${part}` });

const toRecord = ({ name, version, bytes, createdAt }: LibraryRecord) => ({
  name,
  version,
  bytes,
  createdAt: toTime(createdAt),
});

const libraryNotFound = () =>
  notFound('library-not-found', 'The environment has no such version of a library.');
