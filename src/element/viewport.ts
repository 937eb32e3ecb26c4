/**
 * How far outside the viewport an element may be and still count as near. Both margins below apply to the viewport, so
 * together they are about half a screen.
 */
const MARGIN = '25%';

/**
 * Calls back once, as soon as the element comes near the viewport. The frame's own `loading=lazy` would not do: the token
 * would be requested long before the frame loads.
 * @returns a function that stops watching
 */
export function onceNearViewport(element: Element, callback: () => void): () => void {
  const observer = new IntersectionObserver(
    (entries) => {
      if (!entries.some((entry) => entry.isIntersecting)) return;
      observer.disconnect();
      callback();
    },
    { rootMargin: MARGIN, scrollMargin: MARGIN },
  );
  observer.observe(element);
  return () => observer.disconnect();
}
