import assert from 'node:assert/strict';
import { test } from 'node:test';
import { StartError } from 'plugin-editor-service';
import { readDemoSettings } from '../../demo/settings.ts';

test('the demo listens on the documented ports by default', () => {
  const { port, service } = readDemoSettings({});
  assert.deepEqual([port, service.servicePort], [5173, 8082]);
});

test('the demo keeps the inputs of runs, from which the editor makes tests, unless it is set otherwise', () => {
  assert.equal(readDemoSettings({}).service.runRecords, 'payloads');
  assert.equal(readDemoSettings({ RUN_RECORDS: 'outcome' }).service.runRecords, 'outcome');
});

test('both servers can be set to any free port', () => {
  const { port, service } = readDemoSettings({ PORT: '0', SERVICE_PORT: '0' });
  assert.deepEqual([port, service.servicePort], [0, 0]);
});

for (const value of ['http', '65536', '-1', '80.5']) {
  test(`PORT=${value} is refused with the name of the variable`, () => {
    assert.throws(
      () => readDemoSettings({ PORT: value }),
      (error) =>
        error instanceof StartError && error.message.startsWith(`PORT is "${value}"; it must be a port`),
    );
  });
}

test('one port for both servers is refused', () => {
  assert.throws(() => readDemoSettings({ PORT: '8082' }), /PORT and SERVICE_PORT are both 8082/);
});

for (const [variable, value, host] of [
  ['PUBLIC_URL', 'https://plugins.example.com', 'plugins.example.com'],
  ['SERVICE_HOST', '0.0.0.0', '0.0.0.0'],
] as const) {
  test(`a ${variable} of another host is refused, because the demo is for one machine`, () => {
    assert.throws(
      () => readDemoSettings({ PUBLIC_URL: 'http://localhost:8082', [variable]: value }),
      (error) =>
        error instanceof StartError &&
        error.message.startsWith(
          `${variable} names "${host}", and the demo is only for this machine; leave it out`,
        ),
    );
  });
}

test('a host of this machine is taken', () => {
  const { service } = readDemoSettings({ PUBLIC_URL: 'http://127.0.0.1:8082', SERVICE_HOST: '127.0.0.1' });
  assert.equal(service.serviceHost, '127.0.0.1');
});

test('an empty variable counts as left out', () => {
  assert.equal(readDemoSettings({ PUBLIC_URL: '', SERVICE_HOST: ' ' }).service.publicUrl, undefined);
});
