import { expect, fixture, html } from '@open-wc/testing';
import { sendKeys, setViewport } from '@web/test-runner-commands';

import '../../src/plugin-features.ts';
import type { PluginFeaturesElement } from '../../src/plugin-features.ts';
import {
  builder,
  builderThat,
  checked,
  loaded,
  parts,
  picker,
  radios,
  record,
  settle,
} from './plugin-features-helpers.ts';
import { until } from '../support/until.ts';

/** A form with a picker named `lang`; `attributes` are further ones of the picker. */
async function form(
  address: string,
  attributes = '',
): Promise<{ form: HTMLFormElement; element: PluginFeaturesElement; sent: () => FormDataEntryValue[] }> {
  const root = await fixture<HTMLFormElement>(
    `<form><fieldset><label for="lang">Language of the plugin</label>
      <plugin-features id="lang" name="lang" selectable builder="${address}" ${attributes}></plugin-features>
    </fieldset></form>`,
  );
  root.addEventListener('submit', (event) => event.preventDefault());
  const element = root.querySelector('plugin-features') as PluginFeaturesElement;
  await loaded(element);
  return { form: root, element, sent: () => new FormData(root).getAll('lang') };
}

describe('<plugin-features selectable>', () => {
  describe('as a radio group', () => {
    it('is native and named, with nothing chosen at first', async () => {
      const element = await picker(await builder());
      const [group] = parts(element, 'list');
      expect([group?.role, group?.ariaLabel]).to.deep.equal(['radiogroup', 'Language']);
      expect(radios(element).map(({ type }) => type)).to.deep.equal(['radio', 'radio', 'radio']);
      expect(
        radios(element).map(({ labels }) => labels?.[0]?.innerText.trim().split(/\s+/).join(' ')),
      ).to.deep.equal(['JavaScript JS', 'TypeScript TS', 'Rust RS']);
      expect(checked(element)).to.deep.equal([]);
      expect(element.value).to.equal('');
      await expect(element).to.be.accessible();
    });

    it('is operated by keyboard: into the group, along it and back', async () => {
      const element = await picker(await builder());
      element.focus();
      expect(element.shadowRoot?.activeElement).to.equal(radios(element)[0]);
      await sendKeys({ press: ' ' });
      await until('the first language', () => element.value === 'javascript');
      await sendKeys({ press: 'ArrowDown' });
      await until('the second language', () => element.value === 'typescript');
      await sendKeys({ press: 'ArrowRight' });
      await until('the third language', () => element.value === 'rust');
      await sendKeys({ press: 'ArrowUp' });
      await until('the second language again', () => element.value === 'typescript');
      expect(checked(element)).to.deep.equal(['typescript']);
      expect(element.shadowRoot?.activeElement).to.equal(radios(element)[1]);
      const rings = parts(element, 'language').map((language) => getComputedStyle(language).outlineStyle);
      expect(rings).to.deep.equal(['none', 'solid', 'none']);
    });

    it('fires input and change once for each choice, with the value already set', async () => {
      const element = await picker(await builder());
      const seen: [string, string, EventTarget | null, boolean][] = [];
      const listen = (event: Event) => {
        seen.push([event.type, element.value, event.target, event.composed]);
      };
      document.addEventListener('input', listen);
      document.addEventListener('change', listen);
      radios(element)[1]?.click();
      document.removeEventListener('input', listen);
      document.removeEventListener('change', listen);
      expect(seen).to.deep.equal([
        ['input', 'typescript', element, true],
        ['change', 'typescript', element, false],
      ]);
    });

    it('shows what was chosen before, where a listener takes the choice back', async () => {
      const element = await picker(await builder());
      element.value = 'rust';
      await element.updateComplete;
      element.addEventListener('input', () => (element.value = 'rust'));
      radios(element)[1]?.click();
      await element.updateComplete;
      expect(checked(element)).to.deep.equal(['rust']);
    });

    it('fires nothing for a value that a script sets', async () => {
      const element = await picker(await builder());
      let fired = 0;
      for (const name of ['input', 'change']) element.addEventListener(name, () => (fired += 1));
      element.value = 'rust';
      await element.updateComplete;
      expect(checked(element)).to.deep.equal(['rust']);
      expect(fired).to.equal(0);
    });

    it('focuses the chosen language', async () => {
      const element = await picker(await builder());
      element.value = 'rust';
      await element.updateComplete;
      element.focus();
      expect(element.shadowRoot?.activeElement).to.equal(radios(element)[2]);
    });

    it('becomes a list and a group again without another request', async () => {
      const server = await builder();
      const element = await picker(server);
      element.selectable = false;
      await element.updateComplete;
      expect(radios(element)).to.have.length(0);
      expect(parts(element, 'list')[0]?.role).to.equal('list');
      element.selectable = true;
      await element.updateComplete;
      expect(radios(element)).to.have.length(3);
      expect(await server.requests()).to.have.length(1);
    });

    describe('on a narrow page', () => {
      afterEach(async () => {
        await setViewport({ width: 800, height: 600 });
        await until('the former viewport', () => innerWidth === 800);
      });

      it('fits, even from right to left', async () => {
        await setViewport({ width: 447, height: 600 });
        await until('the narrow viewport', () => innerWidth === 447);
        const languages = Array.from({ length: 12 }, (_, index) => ({
          identifier: `l${index}`,
          pretty: `A language with a rather long name, ${'long'.repeat(index * 5)} `,
          short: 'LONG',
        }));
        const server = await builderThat({ json: { features: [], languages } });
        const element = await picker(server);
        element.dir = 'rtl';
        await settle();
        expect(document.documentElement.scrollWidth).to.be.at.most(document.documentElement.clientWidth);
        const [radio] = radios(element);
        const [name] = parts(element, 'name');
        const left = (of: Element | undefined) => of?.getBoundingClientRect().left ?? NaN;
        expect(left(radio)).to.be.above(left(name));
      });
    });
  });

  describe('in a form', () => {
    it('submits the identifier that the user chose', async () => {
      const { form: owner, element, sent } = await form((await builder()).url());
      expect(element.form).to.equal(owner);
      expect(sent()).to.deep.equal([]);
      radios(element)[1]?.click();
      await element.updateComplete;
      expect(sent()).to.deep.equal(['typescript']);
      element.name = 'other';
      await element.updateComplete;
      expect(new FormData(owner).getAll('other')).to.deep.equal(['typescript']);
    });

    it('updates the form before its events fire', async () => {
      const { form: owner, element, sent } = await form((await builder()).url(), 'required');
      const seen: unknown[] = [];
      for (const name of ['input', 'change']) {
        owner.addEventListener(name, () => seen.push([name, ...sent(), owner.checkValidity()]));
      }
      radios(element)[1]?.click();
      expect(seen).to.deep.equal([
        ['input', 'typescript', true],
        ['change', 'typescript', true],
      ]);
    });

    it('uses the attribute as its value until something is chosen', async () => {
      const { element, sent } = await form((await builder()).url(), 'value="rust"');
      expect([element.value, element.defaultValue]).to.deep.equal(['rust', 'rust']);
      expect(checked(element)).to.deep.equal(['rust']);
      expect(sent()).to.deep.equal(['rust']);
      element.setAttribute('value', 'typescript');
      await element.updateComplete;
      expect(checked(element)).to.deep.equal(['typescript']);
      radios(element)[0]?.click();
      element.setAttribute('value', 'rust');
      await element.updateComplete;
      expect(checked(element)).to.deep.equal(['javascript']);
      expect(sent()).to.deep.equal(['javascript']);
    });

    it('returns to the attribute at a reset', async () => {
      const { form: owner, element, sent } = await form((await builder()).url(), 'value="rust"');
      radios(element)[0]?.click();
      await element.updateComplete;
      owner.reset();
      await element.updateComplete;
      expect(element.value).to.equal('rust');
      expect(checked(element)).to.deep.equal(['rust']);
      expect(sent()).to.deep.equal(['rust']);
      // Like a native control, it then follows the attribute again.
      element.setAttribute('value', 'typescript');
      await element.updateComplete;
      expect(checked(element)).to.deep.equal(['typescript']);
    });

    it('returns to no choice at a reset without the attribute', async () => {
      const { form: owner, element, sent } = await form((await builder()).url());
      radios(element)[0]?.click();
      await element.updateComplete;
      owner.reset();
      await element.updateComplete;
      expect(checked(element)).to.deep.equal([]);
      expect(sent()).to.deep.equal([]);
    });

    it('restores the state that the browser kept', async () => {
      const { element } = await form((await builder()).url(), 'value="rust"');
      element.formStateRestoreCallback('typescript');
      await element.updateComplete;
      expect(checked(element)).to.deep.equal(['typescript']);
    });

    it('is invalid without a choice when required, and takes the focus', async () => {
      const { form: owner, element } = await form((await builder()).url(), 'required');
      expect(element.willValidate).to.equal(true);
      expect(element.validity.valueMissing).to.equal(true);
      expect(element.validationMessage).to.equal('Choose a language');
      expect(element.checkValidity()).to.equal(false);
      expect(owner.checkValidity()).to.equal(false);
      expect(element.matches(':invalid')).to.equal(true);
      expect(parts(element, 'list')[0]?.ariaRequired).to.equal('true');
      expect(element.reportValidity()).to.equal(false);
      await until(
        'focus on the first language',
        () => element.shadowRoot?.activeElement === radios(element)[0],
      );

      radios(element)[1]?.click();
      await element.updateComplete;
      expect(element.validity.valid).to.equal(true);
      expect(element.validationMessage).to.equal('');
      expect(owner.checkValidity()).to.equal(true);
    });

    it('is always valid as a mere list', async () => {
      const { form: owner, element, sent } = await form((await builder()).url(), 'required value="rust"');
      element.selectable = false;
      element.value = '';
      await element.updateComplete;
      expect(owner.checkValidity()).to.equal(true);
      element.value = 'rust';
      await element.updateComplete;
      expect(sent()).to.deep.equal([]);
    });

    it('keeps a value that no language has, without choosing or submitting it', async () => {
      const more = [...record.languages, { identifier: 'cobol', pretty: 'COBOL', short: 'CBL' }];
      const server = await builderThat({ json: record, times: 1 }, { json: { ...record, languages: more } });
      const { element, sent } = await form(server.url(), 'required value="cobol"');
      expect(element.value).to.equal('cobol');
      expect(checked(element)).to.deep.equal([]);
      expect(element.validity.valueMissing).to.equal(true);
      expect(sent()).to.deep.equal([]);
      await element.refresh();
      expect(checked(element)).to.deep.equal(['cobol']);
      expect(element.validity.valid).to.equal(true);
      expect(sent()).to.deep.equal(['cobol']);
    });

    it('submits its value as it is while the languages are unknown', async () => {
      const server = await builderThat({ json: record, delay: 'hang' });
      const owner = await fixture<HTMLFormElement>(
        html`<form>
          <plugin-features
            name="lang"
            selectable
            required
            value="rust"
            builder=${server.url()}
          ></plugin-features>
        </form>`,
      );
      expect(owner.checkValidity()).to.equal(true);
      expect(new FormData(owner).get('lang')).to.equal('rust');
    });

    for (const [by, disable] of [
      ['its own attribute', (element: Element) => element.toggleAttribute('disabled')],
      ['a fieldset', (element: Element) => element.closest('fieldset')?.toggleAttribute('disabled')],
    ] as const) {
      it(`is disabled by ${by}`, async () => {
        const { element, sent } = await form((await builder()).url(), 'value="rust" required');
        element.value = '';
        disable(element);
        await element.updateComplete;
        expect(radios(element).every(({ disabled }) => disabled)).to.equal(true);
        expect(element.matches(':disabled')).to.equal(true);
        expect(element.willValidate).to.equal(false);
        element.value = 'rust';
        await element.updateComplete;
        expect(sent()).to.deep.equal([]);
        disable(element);
        await element.updateComplete;
        expect(radios(element).some(({ disabled }) => disabled)).to.equal(false);
        expect(sent()).to.deep.equal(['rust']);
      });
    }

    it('is disabled by the property, too', async () => {
      const { element, sent } = await form((await builder()).url(), 'value="rust"');
      element.disabled = true;
      await element.updateComplete;
      expect(radios(element).every(({ disabled }) => disabled)).to.equal(true);
      expect(sent()).to.deep.equal([]);
      await expect(element).to.be.accessible();
    });

    it('is focused by its labels', async () => {
      const { element } = await form((await builder()).url());
      const [label] = element.labels as unknown as HTMLLabelElement[];
      expect(label?.textContent).to.equal('Language of the plugin');
      label?.click();
      await until(
        'focus on the first language',
        () => element.shadowRoot?.activeElement === radios(element)[0],
      );
    });

    it('keeps properties that were set before the element was defined', async () => {
      const server = await builder();
      const late = document.createElement('late-features') as PluginFeaturesElement;
      Object.assign(late, { value: 'rust', selectable: true, builder: server.url() });
      document.body.append(late);
      const { PluginFeaturesElement: Base } = await import('../../src/plugin-features.ts');
      customElements.define('late-features', class extends Base {});
      await loaded(late);
      expect(checked(late)).to.deep.equal(['rust']);
      late.remove();
    });
  });
});
