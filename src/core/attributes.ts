/**
 * What a change of an attribute leads to while an editor is open. The first three may cost unsaved work. Where several
 * attributes change together, the effect that is named first here decides.
 *
 * - `token`: the token is for something else now, so a new one is fetched, and the plugin is opened with it.
 * - `frame`: the editor is loaded in a new frame. A token that is still valid is kept.
 * - `open`: the plugin is opened anew, in the same frame if the editor can do that. A token that is still valid is kept.
 * - `configure`: the value is sent to the running editor, and nothing is loaded anew.
 * - `iframe`: the attribute of the `<iframe>` is set, which takes effect as in any `<iframe>`.
 * - `later`: nothing happens at once. The value is read when it is next needed.
 */
export type Effect = 'token' | 'frame' | 'open' | 'configure' | 'iframe' | 'later';

interface Attribute {
  /** The property's value while it is not set; empty text means none. Its type is the type of the property. */
  readonly initial: string | number | boolean;
  readonly effect: Effect;
  /** Without a value the element stays `idle`. */
  readonly required?: true;
  /** The only values that it takes; any if left out. Case does not matter, as in HTML. */
  readonly keywords?: readonly string[];
}

/**
 * Every attribute of `<plugin-editor>`, by its property. An attribute that is added here must also be declared in the
 * element's class, with its documentation; the compiler says so.
 */
export const ATTRIBUTES = {
  editorUrl: { initial: '', effect: 'frame', required: true },
  builder: { initial: '', effect: 'open', required: true },
  ident: { initial: '', effect: 'token', required: true },
  namespace: { initial: 'default', effect: 'token' },
  fn: { initial: '', effect: 'token', required: true },
  template: { initial: '', effect: 'open' },
  // `fetchToken` may stand in for it.
  tokenEndpoint: { initial: '', effect: 'token', required: true },
  tokenMethod: { initial: 'post', effect: 'later', keywords: ['post', 'get'] },
  credentials: { initial: 'same-origin', effect: 'later', keywords: ['same-origin', 'omit', 'include'] },
  tokenDelivery: { initial: 'url', effect: 'frame', keywords: ['url', 'message'] },
  loading: { initial: 'eager', effect: 'later', keywords: ['eager', 'lazy'] },
  preload: { initial: false, effect: 'later' },
  timeout: { initial: 15_000, effect: 'later' },
  readOnly: { initial: false, effect: 'configure' },
  locale: { initial: '', effect: 'configure' },
  sandbox: {
    initial:
      'allow-scripts allow-same-origin allow-forms allow-modals allow-downloads allow-popups allow-popups-to-escape-sandbox',
    effect: 'iframe',
  },
  allow: { initial: 'clipboard-read; clipboard-write', effect: 'iframe' },
  referrerpolicy: { initial: 'origin', effect: 'iframe' },
  label: { initial: '', effect: 'iframe' },
  unguarded: { initial: false, effect: 'later' },
} as const satisfies Record<string, Attribute>;

type AttributeTable = typeof ATTRIBUTES;

/** A property that has an attribute. */
export type AttributeName = keyof AttributeTable;

type ValueOf<Row extends Attribute> = Row extends { keywords: readonly (infer Keyword)[] }
  ? Keyword
  : Row['initial'] extends string
    ? string
    : Row['initial'] extends number
      ? number
      : boolean;

/** The attributes whose change has this effect. */
export type NamesWith<Wanted extends Effect> = {
  [Name in AttributeName]: AttributeTable[Name]['effect'] extends Wanted ? Name : never;
}[AttributeName];

/** The values of all attributes, checked and with their defaults. */
export type AttributeValues = { -readonly [Name in AttributeName]: ValueOf<AttributeTable[Name]> };

/** The properties as the element declares them: an attribute that is taken away leaves `null`, but for flags. */
export type AttributeProperties = {
  [Name in AttributeName]:
    ValueOf<AttributeTable[Name]> | (ValueOf<AttributeTable[Name]> extends boolean ? never : null);
};

/** The rows of the table. */
export const attributeRows = Object.entries(ATTRIBUTES) as [AttributeName, Attribute][];

/** The properties whose change has one of these effects. */
export const namesWith = (...effects: Effect[]): AttributeName[] =>
  attributeRows.filter(([, { effect }]) => effects.includes(effect)).map(([name]) => name);

/** The attribute that sets a property: `editorUrl` is `editor-url`. */
export const attributeOf = (property: string): string =>
  property.replace(/[A-Z]/g, (letter) => '-' + letter.toLowerCase());
