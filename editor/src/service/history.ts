import {
  type RunList,
  type RunRecord,
  type VersionList,
  runSchema,
  runsSchema,
  versionsSchema,
} from './history-records.ts';
import type { PluginService } from './plugin-service.ts';

// What was deployed and what ran. It is not part of the first load: it comes with the panels that show it.

type Service = Pick<PluginService, 'readList' | 'readRun'>;

/** The versions, newest first. `after` is the `next` of the page before. */
export const listVersions = (service: Service, signal: AbortSignal, after?: string): Promise<VersionList> =>
  service.readList(versionsSchema, 'versions', { after }, signal);

/** The runs of deployed versions, newest first. `after` is the `next` of the page before. */
export function listRuns(
  service: Service,
  { after, success }: { after?: string | undefined; success?: boolean | undefined },
  signal: AbortSignal,
): Promise<RunList> {
  const query = { after, success: success === undefined ? undefined : String(success) };
  return service.readList(runsSchema, 'runs', query, signal);
}

/** One run with all that is kept of it. */
export const readRun = (service: Service, uuid: string, signal: AbortSignal): Promise<RunRecord> =>
  service.readRun(runSchema, uuid, signal);
