import { access } from './access.ts';
import { build } from './build.ts';
import { builder } from './builder.ts';
import { check } from './check.ts';
import type { ServiceInterface } from './context.ts';
import { deploy } from './deploy.ts';
import { execution } from './execution.ts';
import { languageHelp } from './language-help.ts';
import { progress } from './progress.ts';
import { testing } from './testing.ts';

/** The interfaces of the service, but for {@link health}, which is there before all that may refuse a request. */
export const interfaces: readonly ServiceInterface[] = [
  builder,
  build,
  check,
  languageHelp,
  testing,
  deploy,
  progress,
  access,
  execution,
];
