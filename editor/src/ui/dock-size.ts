import { type Settings, settings } from './settings.ts';

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
