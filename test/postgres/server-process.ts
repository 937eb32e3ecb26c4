import { Cluster } from './cluster.ts';

// A PostgreSQL server for as long as standard input stays open: it ends with whoever started it, however that ended.
// Prints its address.
const cluster = await Cluster.create({ durable: false });
process.stdin.on('end', () => void cluster.remove()).resume();
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => {});
try {
  await cluster.start();
  console.log(cluster.url);
} catch (error) {
  await cluster.remove();
  throw error;
}
