/** A release: its version, and the hash of each file by name, as in `integrity.json`. */
export interface Release {
  version: string;
  files: Record<string, string>;
}

/**
 * Replaces the hashes, and the versions, in the script tags of a text that load a file of the release and have an `integrity`, such
 * as `<script src="https://cdn.example/plugin-editor@0.1.0/dist/cdn/plugin-editor.js" integrity="sha384-…">`.
 */
export const withHashes = (text: string, { version, files }: Release): string =>
  text.replace(/<script\b[^>]*>/g, (tag) => {
    const [, file = ''] = /\bsrc="[^"]*?([^"/]+)"/.exec(tag) ?? [];
    const hash = files[file];
    if (!hash || !/\bintegrity="/.test(tag)) return tag;
    return tag
      .replace(/\bintegrity="[^"]*"/, `integrity="${hash}"`)
      .replace(/\bplugin-editor@[^/"]+/, `plugin-editor@${version}`);
  });
