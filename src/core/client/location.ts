import { checkSegment } from '../address.ts';
import { DEFAULT_NAMESPACE } from '../editor-url.ts';
import { joinIdent } from '../ident.ts';
import type { Segments } from './operation.ts';

/** Whose plugins are meant. */
export interface TenantLocation {
  /** The vendor's environment. */
  environment: string;
  /** The vendor's user, also called tenant; holds no period. */
  userID: string;
}

/** Where a draft lies (interface: Get draft). */
export interface DraftLocation extends TenantLocation {
  /** Default: `default`. */
  namespace?: string | undefined;
  /** Plugin name. */
  pluginName: string;
}

/** @throws TypeError that names the part that cannot be one. */
export function tenantSegments({ environment, userID }: TenantLocation): Segments {
  checkSegment('environment', environment);
  checkSegment('userID', userID);
  return { ident: joinIdent({ environment, tenant: userID }) };
}

/** @throws TypeError that names the part of environment and user that cannot be one; the others are checked in the path. */
export const pluginSegments = ({
  namespace = DEFAULT_NAMESPACE,
  pluginName,
  ...tenant
}: DraftLocation): Segments => ({ ...tenantSegments(tenant), namespace, pluginName });
