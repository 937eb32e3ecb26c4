import { type ElementView, comment, eventClasses, pascalCase } from './elements.ts';

/** What the frameworks' types say about an element, each in its own words. */
interface Framework {
  /** The module whose types are added to. */
  module: string;
  /** What of it the text names. */
  imports: string;
  /** Where it keeps the elements that it knows. */
  within: (entries: string) => string;
  /** What stands for any HTML element. */
  base: (className: string) => string;
  /** The names of an event's listener. */
  listeners: (event: string) => string[];
}

const FRAMEWORKS: Record<string, Framework> = {
  react: {
    module: 'react',
    imports: 'ClassAttributes, HTMLAttributes',
    within: (entries) => `namespace JSX { interface IntrinsicElements { ${entries} } }`,
    base: (className) => `ClassAttributes<${className}> & HTMLAttributes<${className}>`,
    listeners: (event) => [`on${event}`],
  },
  solid: {
    module: 'solid-js',
    imports: 'JSX as SolidJSX',
    within: (entries) => `namespace JSX { interface IntrinsicElements { ${entries} } }`,
    base: (className) => `SolidJSX.HTMLAttributes<${className}>`,
    listeners: (event) => [`on:${event}`],
  },
  svelte: {
    module: 'svelte/elements',
    imports: 'HTMLAttributes',
    within: (entries) => `interface SvelteHTMLElements { ${entries} }`,
    base: (className) => `HTMLAttributes<${className}>`,
    listeners: (event) => [`on${event}`, `on:${event}`],
  },
};

/** The names of the frameworks that have types of their own, and of their files. */
export const frameworks = [...Object.keys(FRAMEWORKS), 'vue'];

/** src/types/<name>.d.ts */
export function frameworkTypes(name: string, elements: ElementView[], head: string): string {
  const framework = FRAMEWORKS[name];
  return framework ? jsxTypes(framework, elements, head) : vueTypes(elements, head);
}

const jsxTypes = (
  { module, imports, within, base, listeners }: Framework,
  elements: ElementView[],
  head: string,
) => `
${head}

import type { ${imports} } from '${module}';
${importsOf(elements)}
${elements
  .map(
    ({ name, className, attributes, properties, events }) => `
interface ${name}Attributes {
  ${attributes.map((one) => `${comment(one.description)}'${one.name}'?: ${className}['${one.fieldName}'] | undefined;`).join('\n')}
  ${properties
    // An attribute of the same name says enough.
    .filter((one) => !attributes.some((attribute) => attribute.name === one.name))
    .map((one) => `${comment(one.description)}${one.name}?: ${className}['${one.name}'] | undefined;`)
    .join('\n')}
  ${events
    .flatMap((one) =>
      listeners(one.name).map(
        (listener) =>
          `${comment(one.description)}'${listener}'?: ((event: ${one.type.text} & { readonly currentTarget: ${className} }) => void) | undefined;`,
      ),
    )
    .join('\n')}
}
`,
  )
  .join('')}
declare module '${module}' {
  ${within(elements.map(({ tag, name, className }) => `'${tag}': ${name}Attributes & Omit<${base(className)}, keyof ${name}Attributes>;`).join('\n'))}
}
`;

/** Vue knows components, by their names in either case. */
const vueTypes = (elements: ElementView[], head: string) => `
${head}

import type { HTMLAttributes, PublicProps } from 'vue';
${importsOf(elements)}
${elements
  .map(
    ({ name, className, attributes, properties, events }) => `
interface ${name}Props {
  ${[
    ...attributes.map((one) => ({ ...one, name: camelCase(one.name) })),
    ...attributes.map((one) => ({ ...one, name: one.fieldName })),
    ...properties,
  ]
    .filter((one, index, all) => all.findIndex((other) => other.name === one.name) === index)
    .map(
      (one) =>
        `${comment(one.description)}${one.name}?: ${className}['${'fieldName' in one ? one.fieldName : one.name}'] | undefined;`,
    )
    .join('\n')}
  ${attributes.some((one) => one.name === 'value') ? "/** `v-model`: the `value`, and what the user chooses. */\nmodelValue?: string | null | undefined;\n'onUpdate:modelValue'?: ((value: string) => void) | undefined;" : ''}
  ${events
    .map(
      (one) =>
        `${comment(one.description)}on${pascalCase(one.name)}?: ((event: ${one.type.text} & { readonly currentTarget: ${className} }) => void) | undefined;`,
    )
    .join('\n')}
}

${comment(elements.find((one) => one.name === name)?.summary)}type ${name} = new () => ${className} & {
  /** For type checks alone, as in Vue's guide; nothing has it at run time. */
  $props: ${name}Props & Omit<HTMLAttributes, keyof ${name}Props> & PublicProps;
};
`,
  )
  .join('')}
declare module 'vue' {
  interface GlobalComponents {
    ${elements.map(({ tag, name }) => `'${tag}': ${name};`).join('\n')}
  }
}
`;

const camelCase = (name: string) => name.replace(/-(.)/g, (_, letter: string) => letter.toUpperCase());

const importsOf = (elements: ElementView[]) =>
  `import type { ${[...elements.map(({ className }) => className), ...eventClasses(elements)].join(', ')} } from '../index.js';`;
