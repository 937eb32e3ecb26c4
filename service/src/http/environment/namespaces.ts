import * as z from 'zod';
import { writeAudit } from '../../audit/entries.ts';
import { auditStamp } from '../audit-stamp.ts';
import type { AuditStamp } from '../../audit/entries.ts';
import type { ServiceContext, ServiceInterface } from '../context.ts';
import { notFound, ServiceError } from '../errors.ts';
import { empty, json } from '../operations/responses.ts';
import { jsonBody } from '../operations/bodies.ts';
import { operation } from '../operations/operation.ts';
import { longestPointer } from '../operations/issues.ts';
import { bytesInWords } from '../../units.ts';
import { pageQuery, pagingBy } from '../paging.ts';
import { toPointer } from '../../json-pointer.ts';
import { lockNamespace, deleteValuesOf, noteConnections } from '../../storage/tables/connection-values.ts';
import type { Connection } from '../../plugins/connections.ts';
import { translateBusyErrors } from '../run-errors.ts';
import { areTyped } from '../../plugins/schemas.ts';
import type { LibraryVersions } from '../../plugins/libraries.ts';
import type { Transaction } from '../../storage/db.ts';
import { lockLibraries, measureLibraries } from '../../storage/tables/libraries.ts';
import {
  deleteNamespace,
  findNamespace,
  listNamespaces,
  replaceNamespace,
} from '../../storage/tables/namespaces.ts';
import type {
  NamespaceDetails,
  NamespaceKey,
  NamespaceRecord,
  NamespaceTypes,
} from '../../storage/tables/namespaces.ts';
import { checkConnections } from './connection-details.ts';
import { compileNamespace, invalidNamespace } from './compile-namespace.ts';
import { maxDeclarations } from './libraries.ts';
import {
  detailsLimit,
  namespaceDetailsSchema,
  namespaceSchema,
  schemasLimit,
  setNamespaceSchema,
} from './namespace-details.ts';

const listPath = '/api/v1/environment/:environment/namespaces';
const namespacePath = `${listPath}/:namespace` as const;

const pageOf = pagingBy('text');

/** The types of the input and output of a namespace's plugins. */
export const namespaces: ServiceInterface = {
  operations: [
    operation({
      id: 'listNamespaces',
      method: 'GET',
      path: listPath,
      summary: 'List the namespaces with types',
      description:
        'Sorted by the bytes of the name. A page may hold fewer than `limit` where records are long.',
      tag: 'types',
      auth: 'environment',
      scope: 'read',
      query: z.object(pageQuery()),
      responses: {
        200: json(
          z
            .object({ namespaces: z.array(namespaceSchema), next: z.string().optional() })
            .meta({ id: 'NamespaceList' }),
          { description: 'A page of the namespaces.' },
        ),
      },
      handle: async ({ target: { environment }, query }, { storage }) => {
        const page = pageOf({ operation: 'listNamespaces', filter: { environment } }, query);
        const { records, isLast } = await listNamespaces(storage.db, environment, {
          after: page.after?.[0],
          limit: query.limit,
        });
        // The table ends a page early where its records are long.
        const { items, next } = page.of(records, ({ namespace }) => [namespace], toDetails, {
          hasMore: !isLast,
        });
        return { status: 200, body: { namespaces: items, ...next } };
      },
    }),

    operation({
      id: 'getNamespace',
      method: 'GET',
      path: namespacePath,
      summary: 'Read the types of a namespace',
      tag: 'types',
      auth: 'environment',
      scope: 'read',
      responses: { 200: json(namespaceSchema, { description: 'The record.' }) },
      errors: { 404: ['namespace-not-found'] },
      handle: async ({ target }, { storage }) => {
        const found = await findNamespace(storage.db, target);
        if (!found) throw namespaceNotFound();
        return { status: 200, body: toDetails(found) };
      },
    }),

    operation({
      id: 'setNamespace',
      method: 'PUT',
      path: namespacePath,
      summary: 'Set the types of the input and output of a namespace’s plugins',
      description: `Replaces the whole record, except that missing \`connections\` and \`libraries\` stay. The schemas are JSON Schemas (2020-12), at most ${bytesInWords(schemasLimit)} together, whose references stay within the schema. After a change of schemas, drafts must be built again; versions stay as they are.`,
      tag: 'types',
      auth: 'environment',
      scope: 'manage',
      body: jsonBody(namespaceDetailsSchema, { description: 'The whole record.', limit: detailsLimit }),
      responses: {
        200: json(setNamespaceSchema, { description: 'The new record, which replaces the former one.' }),
        201: json(setNamespaceSchema, { description: 'The new record, if the namespace had none.' }),
      },
      errors: { 503: ['busy', 'cancelled', 'secrets-unavailable'] },
      handle: async ({ c, target, caller, body }, context) => {
        const { connections, libraries, ...given } = body;
        const details = given as NamespaceDetails;
        checkDetails(details, context);
        const types = areTyped(details)
          ? await translateBusyErrors('vendor', () =>
              compileNamespace(context, target, details, c.req.raw.signal),
            )
          : { compiled: undefined, declarations: '', warnings: [] };
        const stamp = auditStamp(c, caller, context);
        const set = await setNamespace(context, target, { details, types, connections, libraries }, stamp);
        return {
          status: set.isNew ? 201 : 200,
          body: {
            namespace: target.namespace,
            ...given,
            ...(set.connections && { connections: set.connections }),
            ...(set.libraries && { libraries: set.libraries }),
            warnings: [...types.warnings],
          },
        };
      },
    }),

    operation({
      id: 'deleteNamespace',
      method: 'DELETE',
      path: namespacePath,
      summary: 'Remove the types of a namespace',
      description:
        'Plugins stay, and versions still run with the schemas that they were built with. A namespace with connections or libraries is 409: set both to `null` first.',
      tag: 'types',
      auth: 'environment',
      scope: 'manage',
      responses: { 204: empty({ description: 'The types were removed.' }) },
      errors: { 404: ['namespace-not-found'], 409: ['namespace-in-use'] },
      handle: async ({ c, target, caller }, context) => {
        const stamp = auditStamp(c, caller, context);
        await context.storage.transaction(async (db) => {
          await removeNamespace(db, target);
          await writeAudit(db, { ...stamp, action: 'namespace.deleted', target });
        });
        return { status: 204 };
      },
    }),
  ],
};

/** Throws 422 for details that cannot be stored. */
function checkDetails(details: NamespaceDetails, { languages }: ServiceContext): void {
  const { input, output, templates = {}, samples } = details;
  const schemas = [input, output].filter((schema) => schema !== undefined);
  const size = Buffer.byteLength(schemas.map((schema) => JSON.stringify(schema)).join(''));
  if (size > schemasLimit) {
    const message = `The schemas have ${size} bytes together; they may have ${schemasLimit}.`;
    throw new ServiceError(422, 'invalid-body', message, {
      path: input === undefined ? '/output' : '/input',
    });
  }
  const tooLarge = findInfiniteNumber({ input, output, samples });
  // JSON has no infinite numbers: one would be stored, and returned, as `null`.
  if (tooLarge)
    throw invalidNamespace(tooLarge, 'must be a smaller number: one as large as this cannot be stored');
  for (const language of Object.keys(templates)) {
    if (languages.has(language)) continue;
    const known = [...languages.keys()].join(', ');
    const path = toPointer(['templates', language], longestPointer);
    throw new ServiceError(422, 'invalid-body', `templates: each key must be one of ${known}.`, { path });
  }
}

async function setNamespace(
  context: ServiceContext,
  key: NamespaceKey,
  { details, types, connections, libraries }: NewNamespace,
  stamp: AuditStamp,
): Promise<SetNamespace> {
  checkConnections(connections ?? [], context.guard);
  // Now, so that a verifier finds the key before it is first used.
  if (connections?.some(({ credential }) => credential?.type === 'identity'))
    await context.identity.prepare();
  return context.storage.transaction(async (db) => {
    await lockNamespace(db, key);
    const former = (await findNamespace(db, key))?.details;
    const before = former?.connections;
    const granted = connections === undefined ? before : (connections ?? undefined);
    const given = libraries && Object.keys(libraries).length ? libraries : undefined;
    const imported = libraries === undefined ? former?.libraries : given;
    if (given) await checkLibraries(db, key, given);
    const record = {
      ...details,
      ...(granted && { connections: granted }),
      ...(imported && { libraries: imported }),
    };
    if (connections !== undefined) {
      const names = new Set(granted?.map(({ name }) => name));
      const removed = (before ?? []).filter(({ name }) => !names.has(name));
      await deleteValuesOf(
        db,
        key,
        removed.map(({ name }) => name),
      );
      noteConnections(db, key);
    }
    const isNew = await replaceNamespace(db, key, record, types, context.now());
    const { environment, namespace } = key;
    await writeAudit(db, {
      ...stamp,
      action: 'namespace.set',
      target: { environment, namespace },
      details: {
        new: isNew,
        ...(granted && { connections: granted.map(({ name }) => name) }),
        ...(imported && { libraries: imported }),
      },
    });
    return { isNew, connections: granted, libraries: imported };
  });
}

/** What a request sets. Of connections and libraries, `undefined` leaves what is there, and `null` removes it. */
interface NewNamespace {
  readonly details: NamespaceDetails;
  readonly types: Pick<NamespaceTypes, 'compiled' | 'declarations'>;
  readonly connections: readonly Connection[] | null | undefined;
  readonly libraries: LibraryVersions | null | undefined;
}

/** Throws 422 for a library that is not there, and for more than each build and check of the namespace should read. */
async function checkLibraries(
  db: Transaction,
  { environment }: NamespaceKey,
  libraries: LibraryVersions,
): Promise<void> {
  await lockLibraries(db, environment);
  const found = await measureLibraries(db, environment, libraries);
  const names = new Set(found.map((one) => one.name));
  for (const [name, version] of Object.entries(libraries)) {
    if (!names.has(name))
      throw invalidNamespace(['libraries', name], `must be a library: ${name} ${version} is not there`);
  }
  const bytes = found.reduce((sum, one) => sum + one.ofInterface, 0);
  if (bytes > maxInterfaces)
    throw invalidNamespace(
      ['libraries'],
      `must have declarations, descriptions and names of exports of at most ${maxInterfaces} bytes together, as JSON; they have ${bytes}`,
    );
}

/** How many bytes of JSON all but the sources of a namespace's libraries may have together. */
const maxInterfaces = 2 * maxDeclarations;

interface SetNamespace {
  readonly isNew: boolean;
  /** As they are now. */
  readonly connections: readonly Connection[] | undefined;
  readonly libraries: LibraryVersions | undefined;
}

/** Deletes the record of a namespace. Throws 404 where there is none, and 409 where something depends on it. */
async function removeNamespace(db: Transaction, key: NamespaceKey): Promise<void> {
  await lockNamespace(db, key);
  const found = await findNamespace(db, key);
  if (!found) throw namespaceNotFound();
  if (found.details.connections?.length)
    throw new ServiceError(
      409,
      'namespace-in-use',
      'The namespace has connections; remove them first, by a PUT with `connections: null`.',
    );
  if (found.details.libraries)
    throw new ServiceError(
      409,
      'namespace-in-use',
      'The namespace has libraries; remove them first, by a PUT with `libraries: null`.',
    );
  await deleteNamespace(db, key);
}

/** The keys that lead to a number such as `1e400`, which `JSON.parse` makes infinite; `undefined` where there is none. */
function findInfiniteNumber(value: unknown): readonly string[] | undefined {
  if (value === Infinity || value === -Infinity) return [];
  if (typeof value !== 'object' || value === null) return undefined;
  for (const [key, one] of Object.entries(value)) {
    const rest = findInfiniteNumber(one);
    if (rest) return [key, ...rest];
  }
  return undefined;
}

const toDetails = ({ namespace, details }: NamespaceRecord) => ({ namespace, ...details });

const namespaceNotFound = () => notFound('namespace-not-found', 'This namespace has no types.');
