import { LitElement } from 'lit';

/** What every form control of a browser has, for an element that is one by its own work. */
export abstract class FormControl extends LitElement {
  static formAssociated = true;
  static override shadowRootOptions: ShadowRootInit = { mode: 'open', delegatesFocus: true };

  protected internals = this.attachInternals();
  /** Whether something around the element disables it, such as a fieldset. */
  protected barred = false;

  get form(): HTMLFormElement | null {
    return this.internals.form;
  }
  get labels(): NodeList {
    return this.internals.labels;
  }
  get validity(): ValidityState {
    return this.internals.validity;
  }
  get validationMessage(): string {
    return this.internals.validationMessage;
  }
  get willValidate(): boolean {
    return this.internals.willValidate;
  }
  checkValidity(): boolean {
    return this.internals.checkValidity();
  }
  reportValidity(): boolean {
    return this.internals.reportValidity();
  }

  /** @internal */
  formDisabledCallback(barred: boolean): void {
    this.barred = barred;
    this.requestUpdate();
  }
}
