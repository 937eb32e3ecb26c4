/** The element and its ancestors, across shadow boundaries. */
function ancestorsOf(element: Element): Element[] {
  const ancestors: Element[] = [];
  for (let node: Element | null | undefined = element; node;) {
    ancestors.push(node);
    node = node.parentElement ?? (node.getRootNode() as Partial<ShadowRoot>).host;
  }
  return ancestors;
}

/** Has the observer report changes of the `lang` attributes that an element's language may come from. */
export function observeLang(element: Element, observer: MutationObserver): void {
  for (const node of ancestorsOf(element)) observer.observe(node, { attributeFilter: ['lang'] });
}

/**
 * The language of an element as a BCP 47 tag: its `locale` where it has one, else the nearest `lang` attribute. `undefined`
 * where there is none, or where it is no valid tag.
 */
export function localeOf(element: Element, locale: string | null): string | undefined {
  const inherited = () =>
    ancestorsOf(element)
      .map((node) => node.getAttribute('lang'))
      .find((lang) => lang !== null);
  const tag = locale || inherited();
  try {
    // The constructor throws for text that is not a tag.
    void new Intl.Locale(tag as string);
    return tag;
  } catch {
    return undefined;
  }
}
