// The tools take their locks in the same way.
export { lock } from '../../tools/setup/lock.ts';
