declare module 'virtual:stand-in-page' {
  /** The code of `stand-in-page.ts` with all that it imports, minified. */
  const script: string;
  export default script;
}
