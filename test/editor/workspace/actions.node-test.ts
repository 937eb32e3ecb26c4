import assert from 'node:assert/strict';
import { afterEach, beforeEach, mock, test } from 'node:test';
import { HttpError, NetworkError, type PluginSource, type RolloutTerms } from 'plugin-editor/client.js';
import { texts } from '../../../editor/src/locales/locale.ts';
import { type Notice, Notices } from '../../../editor/src/ui/notices.ts';
import { Access } from '../../../editor/src/workspace/access.ts';
import { Actions, type ActionsParts } from '../../../editor/src/workspace/actions.ts';
import type { ServiceStateEvents } from '../../../editor/src/workspace/service-state.ts';

beforeEach(() => mock.timers.enable({ apis: ['setTimeout'] }));
afterEach(() => mock.timers.reset());

/**
 * Actions on a text that is shown. `permit` says whether it may be changed; `count` returns how many checks there were, of which the
 * first have these errors.
 */
function showText(...errors: Error[]) {
  let checks = 0;
  const { promise: details, resolve: sayDetails } = Promise.withResolvers<void>();
  const access = { canWrite: true };
  const checkSource = async () => {
    const error = errors[checks++];
    if (error) throw error;
    return { diagnostics: [] };
  };
  const source = { lang: 'typescript', contents: '' };
  let goOnline = () => {};
  const parts = {
    session: {
      client: { checkSource },
      details,
      location: {},
      notices: new Notices(),
      screen: { draw: () => {} },
      signal: new AbortController().signal,
    },
    access,
    document: { source, editor: { contents: '', mark: () => {}, markSyntax: () => {} } },
    saving: { exists: true, source },
    serviceState: {
      on: (type: string, listener: () => void) => {
        if (type === 'online') goOnline = listener;
      },
    },
  };
  const actions = new Actions(parts as unknown as ActionsParts);
  void actions.start();
  const permit = async (canWrite: boolean) => {
    access.canWrite = canWrite;
    sayDetails();
    await details;
  };
  const count = async () => {
    mock.timers.tick(1000);
    await new Promise(setImmediate);
    return checks;
  };
  return { actions, goOnline: () => goOnline(), permit, count };
}

/** Actions on a text that was checked once. */
async function startActions(...errors: Error[]) {
  const shown = showText(...errors);
  await shown.permit(true);
  assert.equal(await shown.count(), 1);
  return shown;
}

for (const [canWrite, checks] of [
  [false, 0],
  [true, 1],
] as const) {
  test(`a text that may ${canWrite ? '' : 'not '}be changed is checked ${checks} times, and not before that is known`, async () => {
    const { permit, count } = showText();
    assert.equal(await count(), 0);
    await permit(canWrite);
    assert.equal(await count(), checks);
  });
}

test('the text is checked again once the session, which had ended, is there again', async () => {
  const { actions, count } = await startActions(new HttpError('The service', 401));
  mock.timers.tick(60_000);
  assert.equal(await count(), 1);
  actions.handleResolved(['session']);
  assert.equal(await count(), 2);
});

test('the text is checked again once the service, which could not be reached, answers', async () => {
  const { goOnline, count } = await startActions(new NetworkError('The service', new TypeError()));
  goOnline();
  assert.equal(await count(), 2);
});

test('a text that was checked is not checked again when the page comes back into view', async () => {
  const { actions, count } = await startActions();
  actions.handleResolved([]);
  assert.equal(await count(), 1);
});

/** Actions whose requests to build and to deploy are lost once `isLost`; and the notice about them. */
function startLosing(access = new Access(undefined, false)) {
  const service: { isLost: boolean; error?: Error } = { isLost: false };
  const respond = async (response: object) => {
    if (service.error) throw service.error;
    if (service.isLost) throw new NetworkError('The service', new TypeError());
    return response;
  };
  const shown = new Map<string, () => Notice>();
  const source = { lang: 'typescript', contents: '' };
  let report: (event: ServiceStateEvents['progress']) => void = () => {};
  const parts = {
    session: {
      client: {
        build: () => respond({ succeeded: true, outputLog: '' }),
        deploy: () => respond({ version: 'v1.0.0' }),
      },
      location: {},
      notices: {
        show: (kind: string, notice: () => Notice) => shown.set(kind, notice),
        hide: (kind: string) => shown.delete(kind),
        dismiss: () => ({ label: 'Dismiss' }),
      },
      screen: { draw: () => {} },
      host: {},
      signal: new AbortController().signal,
    },
    access,
    document: { source, editor: { contents: '', mark: () => {} } },
    saving: {
      exists: true,
      isUnsaved: false,
      source,
      saved: source,
      saveNow: async () => true,
      holdDuring: (work: () => unknown) => work(),
      replaceBy: (_: unknown, request: () => unknown) => request(),
      handleRefusal: () => {},
    },
    serviceState: {
      on: (type: string, listener: typeof report) => {
        if (type === 'progress') report = listener;
      },
      loadFeatures: () => {},
      loadLive: () => {},
      setOnline: () => {},
    },
    dock: { show: () => {} },
  };
  const actions = new Actions(parts as unknown as ActionsParts);
  const deploy = (rollout?: RolloutTerms) => actions.deploy({ message: '', rollout }, () => {});
  const handleProgress = (version: string, current: boolean, draft?: PluginSource) =>
    report({
      progress: { built: true, deployed: { version, current } },
      draft,
      askedAt: performance.now(),
    });
  const notice = () => shown.get('action')?.().text;
  const choices = () =>
    shown
      .get('action')?.()
      .actions?.map(({ label }) => label);
  return { service, source, actions, deploy, handleProgress, notice, choices };
}

test('who may deploy and not write deploys what is built, unless the page around the editor forbids it', async () => {
  const access = new Access(['read', 'deploy'], false);
  const { service, actions, source, deploy, handleProgress, notice, choices } = startLosing(access);
  assert.equal(actions.canDeploy, false);
  handleProgress('v1.0.0', false, source);
  assert.equal(actions.canDeploy, true);
  await deploy();
  assert.equal(actions.pipeline.deployment.kind, 'deployed');
  assert.equal(access.readOnlyReason, texts().frame.readOnlyDeploy);
  for (const [status, code, text, labels] of [
    [412, undefined, 'Not deployed: changed elsewhere.', ['Try again', 'Dismiss']],
    [404, 'draft-not-found', 'Not deployed: the plugin was deleted.', ['Dismiss']],
    // The draft is to be built, which another has to do.
    [409, undefined, texts().actionError.deployNotBuilt, ['Dismiss']],
  ] as const) {
    service.error = Object.assign(new HttpError('The service', status), { code });
    await deploy();
    assert.deepEqual([notice(), choices()], [text, labels]);
  }
  access.isHostReadOnly = true;
  assert.deepEqual([access.canDeploy, actions.canDeploy], [false, false]);
  assert.equal(new Access(['read'], false).readOnlyReason, texts().frame.readOnlyToken);
});

test('a text is deployed although the build that tries it on real runs has not ended yet', async () => {
  const { actions, deploy } = startLosing();
  const building = actions.ensureBuilt(
    () => {},
    async () => {},
  );
  await deploy();
  assert.equal(await building, true);
  assert.equal(actions.pipeline.deployment.kind, 'deployed');
});

for (const [version, isCurrent, isMade] of [
  ['v1.0.1', true, true],
  // Its text was changed since.
  ['v1.0.1', false, true],
  // The same as before, of a draft that was deployed already.
  ['v1.0.0', true, false],
  ['v1.0.0', false, false],
] as const) {
  test(`the notice that a deployment was lost ${isMade ? 'goes' : 'stays'} once the service says that ${version} is deployed, of ${isCurrent ? 'the draft' : 'another text'}`, async () => {
    const { service, deploy, handleProgress, notice } = startLosing();
    await deploy();
    service.isLost = true;
    await deploy();
    const lost = texts().actionError.deployConnection;
    assert.equal(notice(), lost);
    handleProgress(version, isCurrent);
    assert.equal(notice(), isMade ? undefined : lost);
  });
}

test('the notice that a rollout was lost stays although its version is deployed, because that does not begin it', async () => {
  const { service, deploy, handleProgress, notice } = startLosing();
  await deploy();
  service.isLost = true;
  await deploy({ percent: 5 });
  handleProgress('v1.0.1', true);
  assert.equal(notice(), texts().actionError.deployConnection);
});

test('the notice that a build was lost stays whatever is deployed', async () => {
  const { service, actions, deploy, handleProgress, notice } = startLosing();
  await deploy();
  service.isLost = true;
  await deploy();
  await actions.build();
  handleProgress('v1.0.1', true);
  assert.equal(notice(), texts().actionError.buildConnection);
});

test('the notice that a deployment was lost goes once its version is known, however late that is', async () => {
  const { service, deploy, handleProgress, notice } = startLosing();
  await deploy();
  service.isLost = true;
  await deploy();
  handleProgress('v1.0.0', false);
  assert.ok(notice());
  handleProgress('v1.0.1', false);
  assert.equal(notice(), undefined);
});

test('the notice that a first deployment was lost stays while another text is deployed', async () => {
  const { service, actions, deploy, handleProgress, notice } = startLosing();
  await actions.build();
  service.isLost = true;
  await deploy();
  handleProgress('v1.0.0', false);
  assert.ok(notice());
  handleProgress('v1.0.0', true);
  assert.equal(notice(), undefined);
});
