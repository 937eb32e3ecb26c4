type Detail<Value> = [Value] extends [void] ? [] : [detail: Value];

type Listener = (...detail: unknown[]) => void;

/** An object that tells its listeners what happens to it. `Events` has the type of each event's detail by its name. */
export class Emitter<Events extends object> {
  readonly #listeners = new Map<keyof Events, Listener[]>();

  /** Calls `listener` with each event of this name, for as long as the object lives. */
  on<Name extends keyof Events>(name: Name, listener: (...detail: Detail<Events[Name]>) => void): void {
    this.#listeners.set(name, [...(this.#listeners.get(name) ?? []), listener as Listener]);
  }

  protected emit<Name extends keyof Events>(name: Name, ...detail: Detail<Events[Name]>): void {
    for (const listener of this.#listeners.get(name) ?? []) listener(...detail);
  }
}
