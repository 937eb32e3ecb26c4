/** The part of Svelte's types that ours add to. */
export interface HTMLAttributes<T extends EventTarget> {
  class?: string | undefined;
  id?: string | undefined;
  onclick?: ((event: MouseEvent & { currentTarget: T }) => void) | undefined;
}
export interface SvelteHTMLElements {
  div: HTMLAttributes<HTMLDivElement>;
}
