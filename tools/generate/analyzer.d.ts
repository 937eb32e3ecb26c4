/** The analyzer has types for its command only. */
declare module '@custom-elements-manifest/analyzer' {
  type SourceFile = object;
  interface Plugin {
    name?: string;
    packageLinkPhase?(parameters: { customElementsManifest: never }): void;
  }
  /** The TypeScript of the analyzer, older than ours, which parses the sources. */
  export const ts: {
    ScriptTarget: { ES2022: number };
    createSourceFile(path: string, text: string, target: number, setParentNodes: boolean): SourceFile;
  };
  export function create(options: {
    modules: SourceFile[];
    plugins: Plugin[];
    context: { dev: boolean; thirdPartyCEMs: object[] };
  }): import('./manifest.ts').Manifest;
}

declare module '@custom-elements-manifest/analyzer/src/features/framework-plugins/lit/lit.js' {
  export function litPlugin(): { name?: string }[];
}
