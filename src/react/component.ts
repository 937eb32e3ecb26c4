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
/** The values that become attributes. */
type Plain = string | number | boolean;

/** Properties of an element as props, which keep their doc comments. */
export type PropsOf<Element, Needed extends keyof Element, Others extends keyof Element> = {
  [Name in Needed]: Element[Name] | undefined;
} & {
  [Name in Others]?: Element[Name] | undefined;
};

/** An event whose `currentTarget` is the element that the listener was added to. */
export type EventOn<Element, Kind extends Event> = Kind & { readonly currentTarget: Element };

/** A layout effect, other than on a server, where React 18 warns about one. */
const useBrowserEffect = typeof document === 'undefined' ? useEffect : useLayoutEffect;

const noStore = () => () => {};

/**
 * A React component, for React 18 and 19, around an element that is defined when the component is first mounted.
 *
 * React itself sets the attributes only in what a server renders and what is hydrated. Everything else is set in effects:
 * React 18 does not support properties and events of custom elements, and 19 leaves them out when it hydrates. The element is
 * defined in the first effect.
 */
export function component<Element extends HTMLElement, Props extends object>(
  tag: string,
  elementClass: ElementClass<Element>,
  events: readonly string[],
): ForwardRefExoticComponent<PropsWithoutRef<Props> & RefAttributes<Element>> {
  const handlers = new Map(events.map((type) => [type, handlerOf(type)]));
  const { attributes, properties } = settableProperties(elementClass);
  // Without `fn` an editor waits. Something else on the page may have defined the element, and with it the editor would start before
  // it has its properties and listeners.
  const renderedAttributes = new Map([...attributes].filter(([name]) => name !== 'fn'));
  const own = new Set([...handlers.values(), ...attributes.keys(), ...properties, 'className']);

  const Component = forwardRef<Element, Props>((given, ref) => {
    const props = given as Values;
    const element = useRef<Element>(null);
    const hydrates = useSyncExternalStore(
      noStore,
      () => false,
      () => true,
    );
    // This never changes after the first rendering, so that React does not touch what the effects set.
    const [rendered] = useState(() => (hydrates ? attributesFrom(props, renderedAttributes) : {}));
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
      // Under the name `className`, React 18 would write an attribute `classname`.
      class: props.className,
      // If another script has defined the element already, it may have changed its own attributes before hydration.
      suppressHydrationWarning: true,
      ref: element,
    });
  });
  Component.displayName = nameOf(tag);
  return Component;
}

/** `plugin-editor-ready` is `PluginEditorReady`. */
const nameOf = (name: string) => name.replace(/(?:^|-)(.)/g, (_, letter: string) => letter.toUpperCase());
const handlerOf = (type: string) => `on${nameOf(type)}`;

/** The properties of an element that have an attribute, with the name of that, and those that have none. */
function settableProperties({ observedAttributes, elementProperties }: ElementClass<unknown>) {
  // In a class that is not defined yet, reading this getter is what fills `elementProperties`.
  void observedAttributes;
  // These are here, because React 18 would write `hidden="false"`.
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

/** The attributes that are set, by name. As in React's inputs, `value` is also the default if there is no `defaultValue`. */
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

/** The entries that differ, with `undefined` for those that are gone. */
const changes = (before: Values, now: Values): [string, unknown][] =>
  Object.entries({ ...mapToUndefined(before), ...now }).filter(([name, value]) => before[name] !== value);

const mapToUndefined = (values: Values): Values =>
  Object.fromEntries(Object.keys(values).map((name) => [name, undefined]));
