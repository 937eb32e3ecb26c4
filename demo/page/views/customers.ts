import { html, nothing } from 'lit';
import type { TemplateResult } from 'lit';
import type { AuditView, CustomerView } from '../../vendor/wire.ts';
import { deleteCustomer, restoreCustomer, setSuspended } from '../data.ts';
import { change } from '../state.ts';
import type { State } from '../state.ts';
import { timeView } from './versions.ts';

/** The page of the vendor's own staff: the customers, with buttons to suspend, resume, delete and restore each. */
export const customersView = ({ data, deleting }: State): TemplateResult => html`
  <div class="page">
    <p class="kicker">Larder</p>
    <h1 tabindex="-1">Customers</h1>
    <p class="lead">
      A suspended customer keeps its plugins; they are neither opened nor run. A deleted one is gone with all
      that it has.
    </p>
    <ul class="entries customers">
      ${data.customers?.map((customer) => customerView(customer, deleting === customer.ident))}
    </ul>
    ${entriesView(data.entries ?? [])}
  </div>
`;

/** Who did what, as the plugin service's audit log has it. */
const entriesView = (entries: readonly AuditView[]) => html`
  <section class="panel audit" aria-labelledby="audit-title">
    <h2 id="audit-title">Who did what</h2>
    ${
      entries.length === 0
        ? html`<p class="soft">Nothing yet.</p>`
        : html`<ol class="entries">
            ${entries.map(
              ({ at, action, by, about }) =>
                html`<li>
                  <div class="entry-bar">
                    <strong class="code-word">${action}</strong>
                    <span>${about}</span>
                    <span class="soft">${by}, ${timeView(at)}</span>
                  </div>
                </li>`,
            )}
          </ol>`
    }
  </section>
`;

const labels = { active: 'Active', suspended: 'Suspended', deleted: 'Deleted' } as const;
const badges = { active: 'ready', suspended: 'idle', deleted: 'error' } as const;

const customerView = ({ ident, name, state, plugins }: CustomerView, isDeleting: boolean) => html`
  <li data-customer=${ident}>
    <div class="entry-bar">
      <strong>${name}</strong>
      <span class="badge" data-state=${badges[state]}>${labels[state]}</span>
      <span class="soft">${plugins === 1 ? 'One plugin' : `${plugins} plugins`}</span>
      <div class="tools">
        ${state === 'deleted' ? restoreButton(ident, name) : actions(ident, name, state)}
      </div>
    </div>
    ${
      isDeleting
        ? html`<div class="question" role="alert">
            <p>Delete <strong>${name}</strong> with its plugins, their versions and records of runs?</p>
            <div class="tools">
              <button class="button" data-action="keep" @click=${() => change({ deleting: undefined })}>
                Keep
              </button>
              <button class="button" data-action="delete-for-good" @click=${() => deleteCustomer(ident)}>
                Delete for good
              </button>
            </div>
          </div>`
        : nothing
    }
  </li>
`;

const actions = (ident: string, name: string, state: 'active' | 'suspended') => html`
  <button
    class="button"
    data-action=${state === 'suspended' ? 'resume' : 'suspend'}
    @click=${() => setSuspended(ident, state !== 'suspended')}
  >
    ${state === 'suspended' ? 'Resume' : 'Suspend'}<span class="visually-hidden"> ${name}</span>
  </button>
  <button class="button" data-action="delete" @click=${() => change({ deleting: ident })}>
    Delete<span class="visually-hidden"> ${name}</span>
  </button>
`;

const restoreButton = (ident: string, name: string) => html`
  <button class="button" data-action="restore" @click=${() => restoreCustomer(ident)}>
    Take on again<span class="visually-hidden"> ${name}</span>
  </button>
`;
