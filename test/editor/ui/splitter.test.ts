import { expect } from '@open-wc/testing';
import { resetMouse, sendMouse } from '@web/test-runner-commands';
import { render } from 'lit/html.js';
import { DOCK_SHARES, settings } from '../../../editor/src/ui/settings.ts';
import { splitter } from '../../../editor/src/ui/splitter.ts';

describe('the line between the text and the panels', () => {
  let middle: HTMLElement;

  beforeEach(() => {
    middle = document.createElement('div');
    middle.className = 'middle';
    middle.style.cssText = 'position: fixed; inset: 0 auto auto 0; width: 400px; height: 100px';
    document.body.append(middle);
    render(splitter(false, true), middle);
    const line = middle.querySelector<HTMLElement>('.splitter');
    if (line) line.style.cssText = 'position: absolute; left: 196px; width: 8px; height: 100px';
  });
  afterEach(async () => {
    await resetMouse();
    settings.change({ dockWidth: undefined });
    middle.remove();
  });

  it('stays at the least size where it is dragged to the very edge', async () => {
    await sendMouse({ type: 'move', position: [200, 50] });
    await sendMouse({ type: 'down' });
    await sendMouse({ type: 'move', position: [300, 50] });
    expect(settings.current.dockWidth).to.equal(0.25);
    await sendMouse({ type: 'move', position: [400, 50] });
    expect(settings.current.dockWidth).to.equal(DOCK_SHARES.min);
  });

  it('goes back to the default by a double click', () => {
    settings.change({ dockWidth: 0.5 });
    middle.querySelector('.splitter')?.dispatchEvent(new MouseEvent('dblclick'));
    expect(settings.current.dockWidth).to.equal(undefined);
  });
});
