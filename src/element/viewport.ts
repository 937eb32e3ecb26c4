/**
 * How far outside the viewport an element may be and still count as near. The viewport gets both margins below, which
 * makes about half a screen of scrolling.
 */
const MARGIN = '25%';

/**
 * Calls back once, as soon as the element comes near the viewport. Watched here rather than by the frame's own
 * `loading=lazy`, which would ask for a token long before the frame starts.
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
