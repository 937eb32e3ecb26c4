/** An element and everything that it is in, across shadow hosts, from the inside out. */
function* withAncestors(element: Element): Generator<Element> {
  for (let node: Element | null | undefined = element; node;) {
    yield node;
    node = node.parentElement ?? (node.getRootNode() as Partial<ShadowRoot>).host;
  }
}

/**
 * The language of an element as a BCP 47 tag: the one that was set, else that of the nearest `lang` attribute.
 * `undefined` where there is none, or where it is no valid tag.
 */
export function localeOf(element: Element, given: string | null): string | undefined {
  let tag = given;
  if (!tag) {
    for (const node of withAncestors(element)) {
      tag = node.getAttribute('lang');
      if (tag !== null) break;
    }
  }
  try {
    return Intl.getCanonicalLocales(tag ?? []).length ? (tag as string) : undefined;
  } catch {
    return undefined;
  }
}

/** Calls back when a `lang` attribute changes that an element's language may come from. Returns what stops it. */
export function watchLocale(element: Element, onChange: () => void): () => void {
  const observer = new MutationObserver(onChange);
  for (const node of withAncestors(element)) observer.observe(node, { attributeFilter: ['lang'] });
  return () => observer.disconnect();
}
