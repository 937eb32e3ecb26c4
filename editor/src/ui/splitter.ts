import { type TemplateResult, html } from 'lit/html.js';
import { texts } from '../locales/locale.ts';
import { DOCK_SHARES, type Settings, settings } from './settings.ts';

/** How much a key press changes the share of the page for the panels. */
const STEP = 0.02;
/** The share until the user moves the line. */
const DEFAULT_SHARE = 0.34;

const { min, max } = DOCK_SHARES;

const clamp = (share: number) => Math.min(max, Math.max(min, share));

/**
 * The line between the text and the panels, which can be moved with the pointer and with the arrow keys; a double click
 * puts it back. `isStacked`: the panels are below the text.
 */
export function splitter(isStacked: boolean, isOpen: boolean): TemplateResult {
  const { frame } = texts();
  const key = isStacked ? 'dockHeight' : 'dockWidth';
  const share = settings.current[key] ?? DEFAULT_SHARE;
  const set = (value: number) => settings.change({ [key]: clamp(value) });
  const shareAt = ({ currentTarget, clientX, clientY }: PointerEvent) => {
    const { left, right, bottom, width, height } = (
      (currentTarget as HTMLElement).closest('.middle') as HTMLElement
    ).getBoundingClientRect();
    if (isStacked) return (bottom - clientY) / height;
    return (isFromRight(currentTarget) ? clientX - left : right - clientX) / width;
  };
  const handleKey = (event: KeyboardEvent) => {
    const less = isStacked ? 'ArrowDown' : isFromRight(event.currentTarget) ? 'ArrowLeft' : 'ArrowRight';
    const more = isStacked ? 'ArrowUp' : isFromRight(event.currentTarget) ? 'ArrowRight' : 'ArrowLeft';
    const to = { [less]: share - STEP, [more]: share + STEP, Home: min, End: max }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    set(to);
  };
  return html`<div
    class="splitter"
    role="separator"
    tabindex="0"
    aria-label=${isStacked ? frame.resizeHeight : frame.resize}
    aria-orientation=${isStacked ? 'horizontal' : 'vertical'}
    aria-valuenow=${Math.round(share * 100)}
    aria-valuemin=${min * 100}
    aria-valuemax=${max * 100}
    ?hidden=${!isOpen}
    @keydown=${handleKey}
    @dblclick=${() => settings.change({ [key]: undefined })}
    @pointerdown=${(event: PointerEvent) => {
      (event.currentTarget as HTMLElement).setPointerCapture(event.pointerId);
      event.preventDefault();
    }}
    @pointermove=${(event: PointerEvent) => {
      if ((event.currentTarget as HTMLElement).hasPointerCapture(event.pointerId)) set(shareAt(event));
    }}
  ></div>`;
}

const isFromRight = (target: EventTarget | null): boolean =>
  target instanceof Element && getComputedStyle(target).direction === 'rtl';

/** Applies the user's sizes of the panels to the page. */
function applySizes({ dockWidth, dockHeight }: Settings): void {
  const { style } = document.documentElement;
  for (const [name, share] of [
    ['--dock-width', dockWidth],
    ['--dock-height', dockHeight],
  ] as const) {
    if (share === undefined) style.removeProperty(name);
    else style.setProperty(name, `${share * 100}%`);
  }
}

settings.subscribe(applySizes);
applySizes(settings.current);
