// One process, so that the package is built, packed and installed once for all of these.
import './content.ts';
import './isolation.ts';
import './serving.ts';
import './types.ts';
