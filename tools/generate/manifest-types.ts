/** The parts of a custom elements manifest that are used here; see https://github.com/webcomponents/custom-elements-manifest. */
export interface Manifest {
  schemaVersion: string;
  modules: Module[];
}

export interface Module {
  path: string;
  declarations: Declaration[];
  exports: { kind: string; name: string; declaration: Reference }[];
}

export interface Reference {
  name: string;
  module?: string;
  package?: string;
}

/** Anything with a name and a description. */
export interface Documented {
  name: string;
  description?: string;
}

export interface Typed extends Documented {
  type?: { text: string };
  default?: string;
}

/** A class: an element if it has a tag name, else an event. */
export interface Declaration extends Documented {
  kind: string;
  tagName?: string;
  superclass?: Reference;
  attributes?: (Typed & { fieldName: string })[];
  members?: Member[];
  events?: Typed[];
  slots?: Documented[];
  cssParts?: Documented[];
  cssStates?: Documented[];
  cssProperties?: Typed[];
}

export interface Member extends Typed {
  kind: 'field' | 'method';
  attribute?: string;
  reflects?: boolean;
  readonly?: boolean;
  static?: boolean;
  privacy?: string;
  inheritedFrom?: Reference;
  parameters?: (Typed & { optional?: boolean })[];
  return?: { type: { text: string } };
}
