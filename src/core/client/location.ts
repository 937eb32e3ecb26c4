import { checkSegment } from '../address.ts';
import { DEFAULT_NAMESPACE } from '../editor-url.ts';
import { joinIdent } from '../ident.ts';
import type { Segments } from './operation.ts';

/** A tenant, whose plugins are asked for. */
export interface TenantLocation {
  /** The vendor's environment. */
  environment: string;
  /** The name of the tenant, which holds no period. */
  userID: string;
}

/** A plugin, and so its draft. */
export interface DraftLocation extends TenantLocation {
  /** Default: `default`. */
  namespace?: string | undefined;
  /** Plugin name. */
  pluginName: string;
}

/**
 * Makes the segment that names a tenant in a path: its ident.
 * @throws TypeError that names the part that no path can hold.
 * @internal
 */
export function tenantSegments({ environment, userID }: TenantLocation): Segments {
  checkSegment('environment', environment);
  checkSegment('userID', userID);
  return { ident: joinIdent({ environment, tenant: userID }) };
}

/**
 * Makes the segments that name a plugin in a path: ident, namespace and name.
 * @throws TypeError that names `environment` or `userID`, if no path can hold it. The others are checked by `encodedPath`.
 * @internal
 */
export const pluginSegments = ({
  namespace = DEFAULT_NAMESPACE,
  pluginName,
  ...tenant
}: DraftLocation): Segments => ({ ...tenantSegments(tenant), namespace, pluginName });
