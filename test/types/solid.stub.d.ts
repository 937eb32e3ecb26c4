/** The part of Solid's types that ours add to. */
export namespace JSX {
  type Element = object;
  interface HTMLAttributes<T> {
    class?: string | undefined;
    id?: string | undefined;
    ref?: T | ((element: T) => void) | undefined;
  }
  interface IntrinsicElements {
    div: HTMLAttributes<HTMLDivElement>;
  }
}
export function jsx(type: unknown, props: unknown): JSX.Element;
export const jsxs: typeof jsx;
