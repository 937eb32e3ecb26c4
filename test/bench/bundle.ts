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
      // For a library, Vite keeps the marks of pure calls, which no application's build does.
      rolldownOptions: { output: { minify: true, comments: false } },
    },
  });
  const [
    {
      output: [chunk],
    },
  ] = output as unknown as [{ output: [{ code: string }] }];
  return chunk.code;
}
