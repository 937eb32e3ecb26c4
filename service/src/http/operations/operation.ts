import type { Context } from 'hono';
import type * as z from 'zod';
import type { Auth, CallerOf } from '../auth.ts';
import type { ServiceContext } from '../context.ts';
import type { ErrorList } from '../error-codes.ts';
import type { Method } from '../routes.ts';
import type { DeclaredResponses, JsonResponse, HandlerResponse, RowStream } from './responses.ts';
import type { Body, BodyOf } from './bodies.ts';
import type { Permission, Scope } from '../../plugins/permissions.ts';
import type { NamesIn, PathParameterName, TargetOf } from './path-parameters.ts';
import type { RequestHeader } from './request-headers.ts';

/** The groups of operations in the OpenAPI document. */
export type Tag =
  | 'builder'
  | 'access'
  | 'execution'
  | 'environment'
  | 'types'
  | 'libraries'
  | 'connections'
  | 'webhooks'
  | 'agents'
  | 'service';

/** A request as its handler gets it. The path, the token, the query and a body of JSON were checked, in this order. */
export interface OperationRequest<Path extends string, A extends Auth, Query, B> {
  readonly c: Context;
  /** The parameters of the path, decoded. */
  readonly path: Readonly<Record<NamesIn<Path>, string>>;
  /** The target that the path names. The token was checked to be valid for it. */
  readonly target: TargetOf<NamesIn<Path>>;

  readonly caller: CallerOf<A>;
  readonly query: Query extends z.ZodType ? z.output<Query> : undefined;
  /** A body of JSON, or a function that reads a body of text. */
  readonly body: BodyOf<B>;
}

/** An operation that takes an editor token has to declare the permission that the token needs. */
type PermissionOf<A extends Auth> = [Extract<A, 'editor' | 'editor-or-environment'>] extends [never]
  ? { readonly permission?: undefined }
  : {
      /** What an editor token has to permit. */
      readonly permission: Permission;
    };

/** An operation that takes an environment token has to declare the scope that the token needs; `any`: none in particular. */
type ScopeOf<A extends Auth> = [
  Extract<A, 'environment' | 'run' | 'editor-or-environment' | 'optional'>,
] extends [never]
  ? { readonly scope?: undefined }
  : {
      /** What an environment token has to permit. */
      readonly scope: Scope | readonly Scope[] | 'any';
    };

interface DeclaredOperation<
  Path extends string,
  A extends Auth,
  Query extends z.ZodObject | undefined,
  B extends Body | undefined,
  R extends DeclaredResponses,
> {
  /** The `operationId` in the document: a verb and a noun, such as `saveDraft`. */
  readonly id: string;
  readonly method: Method;
  /** Such as `/api/v1/template/:language`. The parameters are declared in `path-parameters.ts`. */
  readonly path: Path & ([NamesIn<Path>] extends [PathParameterName] ? unknown : never);
  /** A few words. */
  readonly summary: string;
  /** More about it, in Markdown. */
  readonly description?: string;
  readonly tag: Tag;
  /**
   * Which token it needs. Operations of `/api` that take an editor token or none may be called by pages of any origin; those
   * that take only an environment token may be called by none.
   */
  readonly auth: A;
  /** The parameters of the query, each of which is parsed from a text. Others are ignored. */
  readonly query?: Query;
  /** The headers of the request that it reads. */
  readonly headers?: readonly RequestHeader[];
  readonly body?: B;
  /** Whether its work waits in the queue of a process, so that the request need not wait for a turn before. */
  readonly isQueued?: boolean;
  readonly responses: R;
  /** Its error codes, besides those that follow from the rest of the declaration: see `errors-of.ts`. */
  readonly errors?: ErrorList;
  readonly handle: (
    request: OperationRequest<Path, A, Query, B>,
    context: ServiceContext,
  ) => HandlerResult<R> | Promise<HandlerResult<R>>;
}

export type Declaration<
  Path extends string,
  A extends Auth,
  Query extends z.ZodObject | undefined,
  B extends Body | undefined,
  R extends DeclaredResponses,
> = DeclaredOperation<Path, A, Query, B, R> & PermissionOf<A> & ScopeOf<A>;

/** Where a response may be a stream, a handler may return a `Response`, which is sent as it is. */
type HandlerResult<R extends DeclaredResponses> =
  HandlerResponse<R> | (R[200] extends StreamResponse ? Response : never);

type StreamResponse = JsonResponse & ({ readonly events: string } | { readonly rows: RowStream });

/** An operation, whatever its types. */
export interface Operation {
  readonly id: string;
  readonly method: Method;
  readonly path: string;
  readonly summary: string;
  readonly description?: string;
  readonly tag: Tag;
  readonly auth: Auth;
  readonly permission?: Permission | undefined;
  readonly scope?: Scope | readonly Scope[] | 'any' | undefined;
  readonly query?: z.ZodObject | undefined;
  readonly headers?: readonly RequestHeader[];
  readonly body?: Body | undefined;
  readonly isQueued?: boolean;
  readonly responses: DeclaredResponses;
  readonly errors?: ErrorList;
  readonly handle: (request: AnyRequest, context: ServiceContext) => unknown;
}

export interface AnyRequest {
  readonly c: Context;
  readonly path: Readonly<Record<string, string>>;
  readonly target: object;
  readonly caller: unknown;
  readonly query: unknown;
  readonly body: unknown;
}

/** Declares an operation: its request, its responses and its handler. The route and the documentation are made from this. */
export const operation = <
  const Path extends string,
  const A extends Auth,
  const R extends DeclaredResponses,
  Query extends z.ZodObject | undefined = undefined,
  B extends Body | undefined = undefined,
>(
  declaration: Declaration<Path, A, Query, B, R>,
): Operation => declaration as unknown as Operation;
