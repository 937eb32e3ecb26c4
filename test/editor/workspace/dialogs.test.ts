import { expect } from '@open-wc/testing';
import { FONT_SIZES, settings } from '../../../editor/src/ui/settings.ts';
import { showSettings } from '../../../editor/src/workspace/dialogs.ts';

describe('the dialog of settings', () => {
  afterEach(() => {
    document.querySelector('dialog')?.close();
    settings.change({ fontSize: 13.5 });
  });

  it('shows the size that holds, also where another one was typed', () => {
    settings.change({ fontSize: FONT_SIZES.max });
    showSettings(settings);
    const field = document.querySelector<HTMLInputElement>('dialog input[type=number]');
    for (const typed of ['100', '']) {
      if (field) field.value = typed;
      field?.dispatchEvent(new Event('change'));
      expect(settings.current.fontSize).to.equal(FONT_SIZES.max);
      expect(field?.value).to.equal(String(FONT_SIZES.max));
    }
  });
});
