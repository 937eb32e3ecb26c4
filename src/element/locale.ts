/**
 * The language of an element as a BCP 47 tag: the one that was given, else that of the nearest `lang` attribute, across
 * shadow hosts. `undefined` where there is none, or where it is no valid tag.
 * @param observer is told to watch the `lang` attributes of the element and of its ancestors
 */
export function localeOf(
  element: Element,
  given: string | null,
  observer?: MutationObserver,
): string | undefined {
  let tag = given || null;
  for (let node: Element | null | undefined = element; node;) {
    tag ??= node.getAttribute('lang');
    observer?.observe(node, { attributeFilter: ['lang'] });
    node = node.parentElement ?? (node.getRootNode() as Partial<ShadowRoot>).host;
  }
  try {
    // The constructor throws for text that is not a tag.
    void new Intl.Locale(tag as string);
    return tag as string;
  } catch {
    return undefined;
  }
}
