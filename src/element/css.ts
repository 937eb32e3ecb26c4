import { type CSSResultOrNative, isServer, unsafeCSS } from 'lit';

/**
 * A style sheet without `${}`. In a browser it is a `CSSStyleSheet`, so that bundlers can leave out Lit's own class for style
 * sheets, which serves older browsers and servers.
 */
export const css = ([text = '']: TemplateStringsArray): CSSResultOrNative => {
  if (isServer) return unsafeCSS(text);
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(text);
  return sheet;
};
