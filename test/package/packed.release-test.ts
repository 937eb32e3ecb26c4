// One process, so that the package is built and packed once for all of these.
import './bundlers.ts';
import './licences.ts';
import './linters.ts';
import './node.ts';
import './readme.ts';
import './reproducible.ts';
import './typescript.ts';
import './weight.ts';
