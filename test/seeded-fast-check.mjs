// What tests get as fast-check: each property takes the seed of the run, unless it has one of its own, so that a push
// fails for what it changes. A set-up file would load fast-check for every test file.
import * as fc from '../node_modules/fast-check/lib/fast-check.js';
import { sampleSeed } from './seed.ts';

fc.configureGlobal({ seed: sampleSeed });

export * from '../node_modules/fast-check/lib/fast-check.js';
export { default } from '../node_modules/fast-check/lib/fast-check.js';
