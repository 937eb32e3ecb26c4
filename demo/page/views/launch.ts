import { html, nothing } from 'lit';
import type { TemplateResult } from 'lit';
import type { PluginFeaturesElement } from 'plugin-editor';
import type { PluginEntry } from '../../vendor/wire.ts';
import { launch } from '../actions.ts';
import { featuresAttributes } from '../markup.ts';
import { routeTo } from '../route.ts';
import { change, currentTenant, signedInAccount } from '../state.ts';
import type { State } from '../state.ts';
import { previewView } from './preview.ts';
import { runsView } from './runs.ts';
import { versionsView } from './versions.ts';

/**
 * One plugin, before its editor is opened: on the left what one does with it, on the right what it does in the app. What arrives
 * late comes last in each column, so that nothing moves.
 */
export function launchView(state: State, plugin: PluginEntry | undefined, own: boolean): TemplateResult {
  const tenant = currentTenant(state);
  const mayDeploy = signedInAccount(state)?.user.mayDeploy ?? false;
  return html`
    <div class="page wide" ?hidden=${state.launched}>
      ${
        tenant
          ? html`<a class="back" href=${routeTo(tenant.ident)}
              ><span class="arrow" aria-hidden="true">←</span> All plugins</a
            >`
          : nothing
      }
      <p class="kicker">${tenant?.name ?? state.ident}</p>
      <h1 class="code" tabindex="-1">${state.fn}</h1>
      ${
        own
          ? html`<p class="lead">
                ${plugin ? html`${plugin.runs}.` : 'Not in the list yet; it can be written all the same.'}
              </p>
              <div class="columns">
                <div>
                  ${mayDeploy ? launchForm(state) : readForm}
                  ${state.launched || !mayDeploy ? nothing : runsView(state)}
                </div>
                <div>
                  ${state.launched || !mayDeploy || !plugin?.view ? nothing : previewView(state, plugin.view)}
                  ${state.launched ? nothing : versionsView(state)}
                </div>
              </div>`
          : html`<p class="lead">This tenant is not one of yours. The server must not let you in.</p>
              <button class="button primary" id="launch" @click=${launch}>Try it all the same</button>`
      }
    </div>
  `;
}

/** For a user who may only read, and so does not choose the language of a new plugin. */
const readForm = html`
  <section class="launch" aria-labelledby="reading-title">
    <h2 id="reading-title">Read it</h2>
    <p class="soft">
      You may read this plugin. Your token permits neither saving nor deploying, whatever the editor offers.
    </p>
    <button class="button primary" id="launch" @click=${launch}>Open the editor</button>
  </section>
`;

function launchForm(state: State) {
  const attributes = featuresAttributes(state);
  return html`
    <section class="launch" aria-labelledby="language-title">
      <h2 id="language-title">Language</h2>
      <p class="soft">For a plugin that has no source yet; one that has keeps its own.</p>
      <plugin-features
        builder=${attributes.builder ?? nothing}
        for=${attributes.for}
        value=${attributes.value}
        label=${attributes.label}
        @change=${(event: Event) => change({ template: (event.target as PluginFeaturesElement).value })}
      >
      </plugin-features>
      <button class="button primary" id="launch" @click=${launch}>Launch the editor</button>
    </section>
  `;
}
