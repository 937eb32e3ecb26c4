/** The name of the version with this number. */
export const nameOfPatch = (patch: number): string => `v1.0.${patch}`;

/** The number of a version by its name; `undefined` when no version is named so. */
export function patchOfName(version: string): number | undefined {
  const patch = /^v1\.0\.(0|[1-9]\d{0,14})$/.exec(version)?.[1];
  return patch === undefined ? undefined : Number(patch);
}
