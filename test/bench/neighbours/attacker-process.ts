import { once } from 'node:events';
import { setPriority } from 'node:os';
import { Attacker } from './attack.ts';
import type { Position } from './attack.ts';
import { known, variations } from './attacks.ts';

/*
 * One attack in a process with the lowest priority, so that what it costs is what it costs the service. Messages: "prepared", then
 * what came back at the end. It begins with the first message and ends with the second.
 */
setPriority(19);
const [name = '', position = ''] = process.argv.slice(2);
const attack = { ...known, ...variations }[name];
if (!attack) throw new Error(`There is no attack ${name}.`);
const end = new AbortController();
const where = JSON.parse(position) as Position;
await attack.prepare?.(new Attacker(where, end.signal));
process.send?.('prepared');
await once(process, 'message');
const attacker = new Attacker(where, end.signal);
const running = attack.run(attacker);
await Promise.race([once(process, 'message'), running.then(() => new Promise(() => {}))]);
const tally = { ...attacker.tally };
end.abort();
await running;
process.send?.(tally);
process.disconnect();
