import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { describe, test } from 'node:test';
import { killTree, memoryOf, processorTimeOf, processTree } from './processes.ts';

// A process uses 0.2 s of processor time and starts another, which prints its number once it has used as much and 100 MB.
const useTime = 'while (process.cpuUsage().user < 200_000) for (let i = 0; i < 1e6; i++);';
const inner = `
${useTime}
globalThis.kept = Buffer.alloc(100e6, 1);
console.log(process.pid);
process.stdin.resume();`;
const outer = `${useTime}
require('node:child_process').spawn(process.execPath, ['-e', process.argv[1]], { stdio: 'inherit' });`;

async function startTwo(): Promise<{ child: ChildProcess; pid: number; innerPid: number }> {
  const child = spawn(process.execPath, ['-e', outer, inner], { stdio: ['pipe', 'pipe', 'inherit'] });
  const [line] = (await once(createInterface(child.stdout), 'line')) as [string];
  return { child, pid: child.pid ?? 0, innerPid: Number(line) };
}

// They read /proc, which other systems do not have.
describe('a tree of processes', { skip: process.platform !== 'linux' }, () => {
  test('contains a process and all that it started', async (t) => {
    const { child, pid, innerPid } = await startTwo();
    t.after(() => child.stdin?.end());
    assert.deepEqual(processTree(pid), [pid, innerPid]);
  });

  test('has the memory and the processor time of all its processes together', async (t) => {
    const { child, pid, innerPid } = await startTwo();
    t.after(() => child.stdin?.end());
    const memory = memoryOf(pid);
    assert.equal(memory.each.length, 2);
    assert.ok((memory.each[1]?.proportional ?? 0) > 100);
    assert.ok(memory.proportional > (memory.each[1]?.proportional ?? 0));
    // Both hold Node's program, which counts twice here.
    assert.ok(memory.resident > memory.proportional);
    // The inner one may go on using time, so it is read first.
    const innerTime = processorTimeOf(innerPid);
    assert.ok(innerTime >= 100);
    assert.ok(processorTimeOf(pid) >= innerTime + 100);
  });

  test('is killed as a whole', async () => {
    const { child, pid, innerPid } = await startTwo();
    const closed = once(child, 'close');
    killTree(pid);
    // The output is closed once nobody holds it any more.
    await closed;
    assert.throws(() => memoryOf(pid), /cannot be read/);
    assert.throws(() => memoryOf(innerPid), /cannot be read/);
  });
});
