// Each property takes the seed of the run, unless it has one of its own, so that a push fails for what it changes.
import * as fc from 'fast-check';
import { sampleSeed } from './seed.ts';

fc.configureGlobal({ seed: sampleSeed });
