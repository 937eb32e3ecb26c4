import assert from 'node:assert/strict';
import { test } from 'node:test';
import { StartError } from 'plugin-editor-service';
import { readDemoSettings } from '../../demo/settings.ts';

test('without anything set, the demo listens on the documented ports', () => {
  const { port, service } = readDemoSettings({});
  assert.deepEqual([port, service.servicePort], [5173, 8082]);
});

test('any free port can be asked for, for both servers', () => {
  const { port, service } = readDemoSettings({ PORT: '0', SERVICE_PORT: '0' });
  assert.deepEqual([port, service.servicePort], [0, 0]);
});

for (const value of ['http', '65536', '-1', '80.5']) {
  test(`PORT=${value} is refused by name`, () => {
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
