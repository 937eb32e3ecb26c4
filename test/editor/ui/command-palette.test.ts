import { expect } from '@open-wc/testing';
import { showPalette } from '../../../editor/src/ui/command-palette.ts';
import { COMPOSED_ENTERS } from '../../support/composed-enters.ts';

describe('the palette of commands', () => {
  let runs = 0;
  const commands = [{ id: 'save', label: 'Save', run: () => runs++ }];
  const palette = () => document.querySelector('command-palette');

  afterEach(() => document.querySelectorAll('dialog, command-palette').forEach((one) => one.remove()));

  it('runs no command by the Enter that ends the composition of a character', async () => {
    showPalette(commands);
    await (palette() as unknown as { updateComplete: Promise<unknown> }).updateComplete;
    const press = (key: KeyboardEventInit) =>
      palette()?.querySelector('input')?.dispatchEvent(new KeyboardEvent('keydown', key));
    runs = 0;
    COMPOSED_ENTERS.forEach(press);
    expect(runs).to.equal(0);
    press({ key: 'Enter' });
    expect(runs).to.equal(1);
  });

  it('does not open above a dialog that was opened while it was loaded', () => {
    const dialog = document.createElement('dialog');
    document.body.append(dialog);
    dialog.showModal();
    showPalette(commands);
    expect(palette() === null).to.equal(true);
  });
});
