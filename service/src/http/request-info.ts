import type { Context } from 'hono';
import type { Held } from './shares.ts';

/** What is known of a request while it is handled; most of it is logged. */
export interface RequestInfo {
  /** Made by the service: a UUIDv7. */
  readonly id: string;
  /** Headers of its response, also where that is an error: those that are set on `Context` are lost then. */
  readonly responseHeaders: Record<string, string>;
  /** Whether its response was made with all these headers, so that they need not be added to it. */
  hasHeaders?: boolean;
  /** The pattern of its route, such as `/api/v1/draft/:identifier`; `undefined` while no route has matched. */
  route?: string;
  environment?: string;
  tenant?: string;
  /** The holder of its environment token. */
  holder?: string;
  /** Whether its token is valid. */
  isAuthenticated?: boolean;
  /** Whether it has been counted for the rate of the client's address. */
  isCounted?: boolean;
  /** The vendor's id for the person that its editor token was given to. */
  actor?: string | undefined;
  /** The trace that the client's request belongs to. */
  readonly traceparent?: string | undefined;
  /** The interface by which an assistant made the request; the audit log says it. */
  via?: 'mcp';
  /** What it holds of its caller's shares; nothing for monitors and before it is authorized. */
  held?: Held | undefined;
  /** The error code of its response. */
  errorCode?: string;
  /** The error code of the run that it requested, if that failed. */
  runError?: string;
}

declare module 'hono' {
  interface ContextVariableMap {
    request: RequestInfo;
  }
}

/** The information on a request. The first middleware creates it, so it is always there. */
export const requestInfo = (c: Context): RequestInfo => c.get('request');

/**
 * The headers of every response that does not set them itself. It is made for one caller at one moment, so nothing may cache it; and
 * it is not a page, so browsers must not render it as one.
 */
export const defaultHeaders = {
  'cache-control': 'no-store',
  'x-content-type-options': 'nosniff',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
} as const;
