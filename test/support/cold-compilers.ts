import { Builds } from '../../service/src/toolchains/build/builds.ts';

/*
 * Loaded into services that tests start as processes: each compiler starts with the first build in its language. Coming up with the
 * service, the three of them take more processor time than the rest of its start, and most of these services build nothing.
 */
Builds.prototype.warmUp = () => Promise.resolve();
