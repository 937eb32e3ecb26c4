import { LitElement } from 'lit';

/** What every form control of a browser has, for an element that is one by its own work. */
export abstract class FormControl extends LitElement {
  static formAssociated = true;
  static override shadowRootOptions: ShadowRootInit = { mode: 'open', delegatesFocus: true };

  protected internals = this.attachInternals();
  /** Whether something around the element disables it, such as a fieldset. */
  protected barred = false;

  /** The form that the element belongs to. */
  get form(): HTMLFormElement | null {
    return this.internals.form;
  }
  /** The `<label>` elements for it. */
  get labels(): NodeList {
    return this.internals.labels;
  }
  /** What is wrong with the choice, if anything. */
  get validity(): ValidityState {
    return this.internals.validity;
  }
  /** The same in words. */
  get validationMessage(): string {
    return this.internals.validationMessage;
  }
  /** Whether a form checks it. */
  get willValidate(): boolean {
    return this.internals.willValidate;
  }
  /** Whether the choice is valid; fires `invalid` if not. */
  checkValidity(): boolean {
    return this.internals.checkValidity();
  }
  /** The same, and shows the user what is wrong. */
  reportValidity(): boolean {
    return this.internals.reportValidity();
  }

  /** @internal */
  formDisabledCallback(barred: boolean): void {
    this.barred = barred;
    this.requestUpdate();
  }
}
