import { type ElementView, comment, eventClasses, pascalCase } from './elements.ts';

/** The text of src/react.ts, with a component for each element. */
export const reactModule = (elements: ElementView[], head: string): string => `'use client';

${head}

import type { HTMLAttributes } from 'react';
import { PluginEditorElement } from './element/plugin-editor.ts';
import { PluginFeaturesElement } from './element/plugin-features.ts';
import type { ${eventClasses(elements).join(', ')} } from './index.ts';
import { type EventOn, type PropsOf, component } from './react/component.ts';

export type { PluginEditorElement, PluginFeaturesElement };

${elements.map(componentOf).join('\n')}
`;

const componentOf = ({
  name,
  tag,
  className,
  summary,
  attributes,
  properties,
  events,
  oneOf,
}: ElementView) => `
interface ${name}OwnProps extends PropsOf<
  ${className},
  ${namesOf(attributes.filter(({ required }) => required).map(({ fieldName }) => fieldName))},
  ${namesOf(
    [
      ...attributes.filter(({ required }) => !required).map(({ fieldName }) => fieldName),
      ...properties.map((one) => one.name),
    ].filter((one) => !oneOf.includes(one)),
  )}
> {
  ${[...attributes.map((one) => ({ ...one, name: one.fieldName })), ...properties]
    .filter((one) => oneOf.includes(one.name))
    .map((one) => `${comment(one.description)}${one.name}?: ${className}['${one.name}'] | null | undefined;`)
    .join('\n')}
  ${events
    .map(
      (one) =>
        `${comment(one.description)}${handlerOf(one.name)}?: ((event: EventOn<${className}, ${one.type.text}>) => void) | undefined;`,
    )
    .join('\n')}
}

/** What \`<${name}>\` can be given, beside what any HTML element in React can. */
export type ${name}Props = ${name}OwnProps & ${oneOfType(oneOf)}Omit<HTMLAttributes<${className}>, keyof ${name}OwnProps>;

${comment(`${summary} Its ref is the element.`)}export const ${name} = /* @__PURE__ */ component<${className}, ${name}Props>('${tag}', ${className}, [
  ${events.map((one) => `'${one.name}'`).join(', ')}
]);
`;

/** One of several props must be given, and may be \`null\` as long as there is nothing to give. */
const oneOfType = (names: string[]) =>
  names.length > 0 ? `(${names.map((name) => `{ ${name}: unknown }`).join(' | ')}) & ` : '';
const namesOf = (names: string[]) => names.map((name) => `'${name}'`).join(' | ') || 'never';

const handlerOf = (event: string) => `on${pascalCase(event)}`;
