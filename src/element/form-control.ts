import { LitElement } from 'lit';

/** The members that every native form control has, for a form-associated custom element. */
export abstract class FormControl extends LitElement {
  static formAssociated = true;
  static override shadowRootOptions: ShadowRootInit = { mode: 'open', delegatesFocus: true };

  protected internals = this.attachInternals();
  /** Whether something around the element disables it, such as a fieldset. */
  protected isDisabledByAncestor = false;

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
  /** The message that the browser shows for it. */
  get validationMessage(): string {
    return this.internals.validationMessage;
  }
  /** Whether the form checks the choice. */
  get willValidate(): boolean {
    return this.internals.willValidate;
  }
  /** Returns whether the choice is valid, and fires `invalid` if it is not. */
  checkValidity(): boolean {
    return this.internals.checkValidity();
  }
  /** Like `checkValidity`, and shows the user what is wrong. */
  reportValidity(): boolean {
    return this.internals.reportValidity();
  }

  /** @internal */
  formDisabledCallback(isDisabledByAncestor: boolean): void {
    this.isDisabledByAncestor = isDisabledByAncestor;
    this.requestUpdate();
  }
}
