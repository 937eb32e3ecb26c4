'use client';

import type { LitElement } from 'lit';
import {
  type ForwardRefExoticComponent,
  type PropsWithoutRef,
  type RefAttributes,
  createElement,
  forwardRef,
  useEffect,
  useImperativeHandle,
  useLayoutEffect,
  useRef,
  useState,
  useSyncExternalStore,
} from 'react';

type ElementClass<Element> = Pick<typeof LitElement, 'observedAttributes' | 'elementProperties'> &
  (new () => Element);
type Values = Record<string, unknown>;
/** What an attribute can hold. */
type Plain = string | number | boolean;

/** Properties of an element as props, with the documentation that they have there. */
export type PropsOf<Element, Needed extends keyof Element, Others extends keyof Element> = {
  [Name in Needed]: Element[Name] | undefined;
} & {
  [Name in Others]?: Element[Name] | undefined;
};

/** A listener's event, which knows the element that it was added to. */
export type EventOn<Element, Kind extends Event> = Kind & { readonly currentTarget: Element };

/** React 18 warns about the other one on a server. */
const useBrowserEffect = typeof document === 'undefined' ? useEffect : useLayoutEffect;

const noStore = () => () => {};

/**
 * A React component, for React 18 and 19, around an element that is defined when the component is first mounted.
 *
 * React itself sets attributes only in what a server renders and what hydrates it. All else is set here, before the
 * element first looks at it: React 18 knows no properties and no events of custom elements, and 19 forgets them when it
 * hydrates. An element that is not defined before that fires no event that a listener could miss.
 */
export function component<Element extends HTMLElement, Props extends object>(
  tag: string,
  elementClass: ElementClass<Element>,
  events: readonly string[],
): ForwardRefExoticComponent<PropsWithoutRef<Props> & RefAttributes<Element>> {
  const handlers = new Map(events.map((type) => [type, handlerOf(type)]));
  const { attributes, properties } = settable(elementClass);
  const own = new Set([...handlers.values(), ...attributes.keys(), ...properties, 'className']);

  const Component = forwardRef<Element, Values>((props, ref) => {
    const element = useRef<Element>(null);
    const hydrates = useSyncExternalStore(
      noStore,
      () => false,
      () => true,
    );
    // Constant from then on, so that React leaves alone what is set below.
    const [rendered] = useState(() => (hydrates ? attributesFrom(props, attributes) : {}));
    const applied = useRef<{ attributes: Values; properties: Values }>({ attributes: {}, properties: {} });
    const latest = useRef(props);

    useImperativeHandle(ref, () => element.current as Element, []);

    useBrowserEffect(() => {
      const node = element.current as Element & Values;
      if (!customElements.get(tag)) customElements.define(tag, elementClass);
      const before = applied.current;
      const now = { attributes: attributesFrom(props, attributes), properties: pick(props, properties) };
      for (const [name, value] of changes(before.attributes, now.attributes)) {
        if (value === undefined) node.removeAttribute(name);
        else if (node.getAttribute(name) !== value) node.setAttribute(name, value as string);
      }
      for (const [name, value] of changes(before.properties, now.properties)) (node as Values)[name] = value;
      applied.current = now;
      latest.current = props;
    });

    useBrowserEffect(() => {
      const node = element.current as Element;
      const listen = (event: Event) => {
        const handler = latest.current[handlers.get(event.type) as string] as ((event: Event) => void) | null;
        handler?.(event);
      };
      for (const type of events) node.addEventListener(type, listen);
      return () => {
        for (const type of events) node.removeEventListener(type, listen);
      };
    }, []);

    return createElement(tag, {
      ...Object.fromEntries(Object.entries(props).filter(([name]) => !own.has(name))),
      ...rendered,
      // React 18 would write `classname`.
      class: props.className,
      // Another script may have defined the element, and that may have changed its attributes since.
      suppressHydrationWarning: true,
      ref: element,
    });
  });
  Component.displayName = nameOf(tag);
  return Component as never;
}

/** `plugin-editor-ready` is `PluginEditorReady`. */
const nameOf = (name: string) => name.replace(/(?:^|-)(.)/g, (_, letter: string) => letter.toUpperCase());
const handlerOf = (type: string) => `on${nameOf(type)}`;

/** Which properties of an element have an attribute, and which have none. */
function settable({ observedAttributes, elementProperties }: ElementClass<unknown>) {
  // Reading these first is what fills the properties of a class that is not defined yet.
  void observedAttributes;
  // React 18 would write `hidden="false"`.
  const attributes = new Map([
    ['hidden', 'hidden'],
    ['inert', 'inert'],
  ]);
  const properties: string[] = [];
  for (const [name, { attribute }] of elementProperties as Map<string, { attribute?: string | boolean }>) {
    if (attribute === false) properties.push(name);
    else attributes.set(name, typeof attribute === 'string' ? attribute : name.toLowerCase());
  }
  return { attributes, properties };
}

/** What is set of the attributes. As with React's inputs, a `value` stands for the default that is not given. */
function attributesFrom(props: Values, names: Map<string, string>): Values {
  const attributes: Values = {};
  for (const [name, attribute] of names) {
    const value = (props[name] ?? (attribute === 'value' ? props.value : null) ?? null) as Plain | null;
    if (value !== null && value !== false) attributes[attribute] = value === true ? '' : String(value);
  }
  return attributes;
}

const pick = (props: Values, names: readonly string[]): Values =>
  Object.fromEntries(names.filter((name) => props[name] !== undefined).map((name) => [name, props[name]]));

/** What differs, with `undefined` for what is gone. */
const changes = (before: Values, now: Values): [string, unknown][] =>
  Object.entries({ ...mapToUndefined(before), ...now }).filter(([name, value]) => before[name] !== value);

const mapToUndefined = (values: Values): Values =>
  Object.fromEntries(Object.keys(values).map((name) => [name, undefined]));
