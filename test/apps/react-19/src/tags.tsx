import type {} from 'plugin-editor/types/react.d.ts';

/** The tags themselves, as React 19 renders them in a browser. */
const attributes = {
  'editor-url': '/editor/',
  builder: null,
  ident: undefined,
  fn: 'f',
  'token-endpoint': '/token',
};

export const plain = [
  <plugin-editor {...attributes} key="1" token-delivery="message" />,
  // @ts-expect-error: there are two ways of delivery
  <plugin-editor {...attributes} key="2" token-delivery="post" />,
];
