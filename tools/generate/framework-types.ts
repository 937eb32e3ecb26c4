import { type ElementView, comment } from './elements.ts';

/** How a framework declares the types of custom elements. */
interface Framework {
  module: string;
  /** The types that are imported of the module. */
  imports: string;
  /** Writes the interface that the elements are added to, around its entries. */
  within: (entries: string) => string;
  /** Writes the framework's type of any HTML element, for one of this class. */
  base: (className: string) => string;
  /** The type of the prefixes that make the name of a listener of an event's name. */
  prefix: string;
}

const inJsx = (entries: string) => `namespace JSX { interface IntrinsicElements { ${entries} } }`;

const FRAMEWORKS: Record<string, Framework> = {
  react: {
    module: 'react',
    imports: 'ClassAttributes, HTMLAttributes',
    within: inJsx,
    base: (className) => `ClassAttributes<${className}> & HTMLAttributes<${className}>`,
    prefix: `'on'`,
  },
  solid: {
    module: 'solid-js',
    imports: 'JSX as SolidJSX',
    within: inJsx,
    base: (className) => `SolidJSX.HTMLAttributes<${className}>`,
    prefix: `'on:'`,
  },
  svelte: {
    module: 'svelte/elements',
    imports: 'HTMLAttributes',
    within: (entries) => `interface SvelteHTMLElements { ${entries} }`,
    base: (className) => `HTMLAttributes<${className}>`,
    prefix: `'on' | 'on:'`,
  },
};

/** The declaration files of frameworks, by path. */
export function frameworkTypes(elements: ElementView[], head: string): [path: string, text: string][] {
  return [
    ['src/types/attributes.d.ts', sharedTypes(elements, head)],
    ['src/types/vue.d.ts', vueTypes(elements, head)],
    ...Object.entries(FRAMEWORKS).map(([name, framework]): [string, string] => [
      `src/types/${name}.d.ts`,
      typesOf(framework, elements, head),
    ]),
  ];
}

/** The types that all frameworks share: attributes and properties with their descriptions, and events by name. */
const sharedTypes = (elements: ElementView[], head: string) => `
${head}

import type { ${elements.flatMap(({ className, name }) => [className, `${name}EventMap`]).join(', ')} } from '../index.js';

/** Listeners by event, each under the event's name after a prefix. */
type Listeners<Events, Element, Prefix extends string> = {
  [Name in keyof Events & string as \`\${Prefix}\${Name}\`]?:
    ((event: Events[Name] & { readonly currentTarget: Element }) => void) | undefined;
};

/** Some of an element's properties. */
export type Settable<Element, Name extends keyof Element> = { [Key in Name]?: Element[Key] | undefined };
${elements.map(sharedOf).join('')}`;

const sharedOf = ({ tag, name, className, attributes, properties, events, oneOf }: ElementView) => `
/** Attributes of \`<${tag}>\`. */
export interface ${name}Attributes {
  ${attributes
    .map(
      (one) =>
        `${comment(one.description)}'${one.name}'${one.required ? '' : '?'}: ${className}['${one.fieldName}'] | undefined;`,
    )
    .join('\n')}
}

/** All that can be set on \`<${tag}>\`: properties, of which some have an attribute. */
export type ${name}Properties = Settable<${className},
  ${[
    ...attributes.filter(({ required }) => !required).map((one) => one.fieldName),
    ...properties.map((one) => one.name),
  ]
    .map((one) => `'${one}'`)
    .join(' | ')}>${requiredOf(attributes, className)};
${
  oneOf.length > 0
    ? `
/** One of these must be given, as an attribute or property; it may be \`undefined\` as long as there is nothing to give. */
export type ${name}OneOf<Attribute extends string> = ${oneOf
        .map((one, at) => `{ [Key in ${at === 0 ? 'Attribute' : `'${one}'`}]: unknown }`)
        .join(' | ')};
`
    : ''
}
/** Properties of \`<${tag}>\` without an attribute. */
type ${name}Only = Pick<${name}Properties, ${properties.map((one) => `'${one.name}'`).join(' | ')}>;

/** Events of \`<${tag}>\`. */
export interface ${name}Events extends ${name}EventMap {
  ${events
    .filter(({ own }) => !own)
    .map((one) => `${comment(one.description)}${one.name}: ${one.type.text};`)
    .join('\n')}
}

/** All that a template can set on \`<${tag}>\`. \`Prefix\` makes the name of a listener of an event's name. */
export type ${name}Tag<Prefix extends string> = ${name}Attributes & ${name}Only & ${oneOf.length > 0 ? `${name}OneOf<'token-endpoint'> & ` : ''}Listeners<${name}Events, ${className}, Prefix>;
`;

const requiredOf = (attributes: ElementView['attributes'], className: string) => {
  const names = attributes.filter(({ required }) => required).map((one) => `'${one.fieldName}'`);
  return names.length > 0 ? ` & { [Key in ${names.join(' | ')}]: ${className}[Key] | undefined }` : '';
};

const typesOf = (
  { module, imports, within, base, prefix }: Framework,
  elements: ElementView[],
  head: string,
) => `
${head}

import type { ${imports} } from '${module}';
import type { ${elements.map(({ className }) => className).join(', ')} } from '../index.js';
import type { ${elements.map(({ name }) => `${name}Tag`).join(', ')} } from './attributes.js';

${elements.map(({ name }) => `type ${name} = ${name}Tag<${prefix}>;`).join('\n')}

declare module '${module}' {
  ${within(elements.map(({ tag, name, className }) => `'${tag}': ${name} & Omit<${base(className)}, keyof ${name}>;`).join('\n'))}
}
`;

/** Vue declares an element as a global component, whose props have names in camel case. */
const vueTypes = (elements: ElementView[], head: string) => `
${head}

import type { HTMLAttributes, PublicProps } from 'vue';
import type { ${elements.map(({ className }) => className).join(', ')} } from '../index.js';
import type { ${elements.flatMap(({ name, oneOf }) => [`${name}Attributes`, `${name}Events`, ...(oneOf.length > 0 ? [`${name}OneOf`] : []), `${name}Properties`]).join(', ')} } from './attributes.js';

/** \`plugin-editor-ready\` is \`PluginEditorReady\`. */
type Pascal<Name extends string> =
  Name extends \`\${infer First}-\${infer Rest}\` ? \`\${Capitalize<First>}\${Pascal<Rest>}\` : Capitalize<Name>;

/** Listeners, which Vue writes as \`@plugin-editor-ready\`. */
type VueListeners<Events, Element> = {
  [Name in keyof Events & string as \`on\${Pascal<Name>}\`]?:
    ((event: Events[Name] & { readonly currentTarget: Element }) => void) | undefined;
};

${elements.map(vueTypeOf).join('\n')}

declare module 'vue' {
  interface GlobalComponents {
    ${elements.map(({ tag, name }) => `'${tag}': ${name};`).join('\n')}
  }
}
`;

function vueTypeOf({ name, className, summary, attributes, oneOf }: ElementView): string {
  const others = attributes.filter((one) => one.name !== one.fieldName && !one.name.includes('-'));
  const parts = [
    `${name}Properties`,
    ...(oneOf.length > 0 ? [`${name}OneOf<'tokenEndpoint'>`] : []),
    ...(others.length > 0
      ? [`Pick<${name}Attributes, ${others.map((one) => `'${one.name}'`).join(' | ')}>`]
      : []),
    `VueListeners<${name}Events, ${className}>`,
  ];
  const model = attributes.some((one) => one.name === 'value')
    ? `& {
      /** \`v-model\`: the \`value\`, and what the user chooses. */
      modelValue?: string | null | undefined;
      'onUpdate:modelValue'?: ((value: string) => void) | undefined;
    }`
    : '';
  return `type ${name}Props = ${parts.join(' & ')}${model};

${comment(summary)}type ${name} = new () => ${className} & {
  /** For type checks alone, as in Vue's guide; nothing has it at run time. */
  $props: ${name}Props & Omit<HTMLAttributes, keyof ${name}Props> & PublicProps;
};
`;
}
