// Templates are compiled in the browser: the full compiler of `@angular/build` would treble the installation
// of all apps together, and does nothing more for elements that CUSTOM_ELEMENTS_SCHEMA leaves unchecked.
import '@angular/compiler';
import { CUSTOM_ELEMENTS_SCHEMA, Component, signal } from '@angular/core';
import { bootstrapApplication } from '@angular/platform-browser';
import 'plugin-editor';
import type {
  PluginEditorDeployEvent,
  PluginEditorDirtyEvent,
  PluginEditorReadyEvent,
  PluginFeaturesElement,
  TokenHeaders,
} from 'plugin-editor';

@Component({
  selector: 'app-root',
  schemas: [CUSTOM_ELEMENTS_SCHEMA],
  template: `
    <plugin-editor
      [attr.editor-url]="place['editor']"
      [builder]="place['builder']"
      ident="com.example.acme"
      [fn]="fn()"
      [template]="language()"
      token-endpoint="token"
      [tokenDelivery]="place['delivery']"
      [tokenHeaders]="headers"
      (plugin-editor-ready)="onReady($event)"
      (plugin-editor-dirty)="onDirty($event)"
      (plugin-editor-deploy)="onDeploy($event)"
    ></plugin-editor>
    <plugin-features
      [builder]="place['builder']"
      selectable
      [value]="language()"
      (change)="onChoice($event)"
    ></plugin-features>
    <button id="other" (click)="fn.set('other')">Other plugin</button>
    <button id="javascript" (click)="language.set('javascript')">JavaScript</button>
    <output id="events">{{ events().join(' ') }}</output>
    <output id="language">{{ language() }}</output>
  `,
})
class App {
  place = Object.fromEntries(new URLSearchParams(location.search));
  fn = signal('first');
  language = signal('');
  events = signal<string[]>([]);
  headers: TokenHeaders = { 'x-app': 'angular' };

  onReady({ confirmed }: PluginEditorReadyEvent) {
    this.add(`ready:${confirmed}`);
  }
  onDirty({ dirty }: PluginEditorDirtyEvent) {
    this.add(`dirty:${dirty}`);
  }
  onDeploy({ version }: PluginEditorDeployEvent) {
    this.add(`deploy:${version}`);
  }
  onChoice({ target }: Event) {
    this.language.set((target as PluginFeaturesElement).value);
  }

  add(event: string) {
    this.events.update((events) => [...events, event]);
  }
}

await bootstrapApplication(App);
