import { type Plugin, build } from 'vite';

/** One script, as an application's own build would make it. */
export async function bundle(entry: string, plugins: Plugin[] = []): Promise<string> {
  const output = await build({
    configFile: false,
    logLevel: 'error',
    plugins,
    define: { 'process.env.NODE_ENV': '"production"' },
    build: {
      write: false,
      target: 'es2022',
      lib: { entry, formats: ['es'] },
      rolldownOptions: { output: { minify: true } },
    },
  });
  const [
    {
      output: [chunk],
    },
  ] = output as unknown as [{ output: [{ code: string }] }];
  return chunk.code;
}
