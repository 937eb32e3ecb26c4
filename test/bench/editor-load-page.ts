/** The vendor's page, which opens the editor at a click. */
import '../../src/plugin-editor.ts';

/** Where the editor is, and what it is to open. */
export interface Place {
  /** The interface's editor address, with a token. */
  address: string;
  editorUrl: string;
  builder: string;
}

export type Way = 'editor address' | 'element, url' | 'element, message';

declare global {
  interface Window {
    /** Opens the editor; answers with when that was, by the clock that all frames of a browser share. */
    click(way: Way, place: Place): number;
  }
}

window.click = (way, { address, editorUrl, builder }) => {
  const clicked = performance.timeOrigin + performance.now();
  const main = document.querySelector('main') as HTMLElement;
  if (way === 'editor address') {
    const frame = document.createElement('iframe');
    frame.src = address;
    main.append(frame);
  } else {
    const element = document.createElement('plugin-editor');
    const attributes = {
      'editor-url': editorUrl,
      builder,
      ident: 'com.acme.t1',
      fn: 'add-record',
      'token-endpoint': '/token',
      'token-delivery': way === 'element, url' ? 'url' : 'message',
    };
    for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
    main.append(element);
  }
  return clicked;
};
