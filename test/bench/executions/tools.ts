import { installTestPackages, requireTestPackage } from '../../packages/packages.ts';

/** Installs `workerd` and `autocannon` when they are not there yet. */
export const installTools = installTestPackages;

/** The path of the `workerd` program for this machine, and the newest compatibility date that it knows. */
export function workerd(): { program: string; compatibilityDate: string } {
  const { default: program, compatibilityDate } = requireTestPackage('workerd') as Record<
    'default' | 'compatibilityDate',
    string
  >;
  return { program, compatibilityDate };
}

/** What is used of autocannon 9, which comes without types: resolves once the requests were sent. */
export type Autocannon = (options: {
  url: string;
  connections: number;
  /** Seconds; not given together with `amount`. */
  duration?: number;
  /** How many requests to send in all. */
  amount?: number;
  /** Seconds. */
  timeout: number;
  /** How often it looks whether it is done, in ms. */
  sampleInt: number;
  requests: { method: string; path: string; headers: Record<string, string>; body: string }[];
  /** Called for each response, right after the event `response`. */
  verifyBody: (body: string) => boolean;
}) => PromiseLike<unknown> & {
  on(event: 'response', listener: (client: unknown, status: number, bytes: number, ms: number) => void): void;
  on(event: 'reqError', listener: (error: Error) => void): void;
};

export const autocannon = (): Autocannon => requireTestPackage('autocannon') as Autocannon;
