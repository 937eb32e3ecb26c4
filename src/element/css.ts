import { type CSSResultOrNative, isServer, unsafeCSS } from 'lit';

/**
 * A style sheet without `${}`. In a browser it is the browser's own kind, so that bundlers leave out what Lit's tag makes in
 * its place, for browsers without one and for servers.
 */
export const css = ([text = '']: TemplateStringsArray): CSSResultOrNative => {
  if (isServer) return unsafeCSS(text);
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(text);
  return sheet;
};
