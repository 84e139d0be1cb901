import { parseArgs } from 'node:util';
import * as fc from 'fast-check';
import { scenario } from './scenario.ts';
import { simulate } from './simulate.ts';

/** `npm run simulate -- [--runs N] [--seed S] [--path P]`: more schedules than the unit tests have time for, or one of them again. */
const { values } = parseArgs({ options: { runs: { type: 'string', default: '50000' }, seed: { type: 'string' }, path: { type: 'string' } } });
const seed = values.seed === undefined ? Date.now() % 2 ** 31 : Number(values.seed);
const numRuns = Number(values.runs);
if (!Number.isSafeInteger(seed) || !Number.isSafeInteger(numRuns) || numRuns < 1) throw new Error('--seed and --runs take whole numbers');

let steps = 0;
const sinceMs = performance.now();
const found = fc.check(fc.property(scenario, (one) => void (steps += simulate(one).steps)), { seed, numRuns, ...(values.path === undefined ? {} : { path: values.path }) });
const tookS = (performance.now() - sinceMs) / 1_000;

if (found.failed) {
  console.error(`${(found.errorInstance as Error).message}\n\n${JSON.stringify(found.counterexample?.[0], null, 1)}\n`);
  console.error(`Again: npm run simulate -- --seed ${found.seed} --path '${found.counterexamplePath}'`);
  process.exitCode = 1;
} else {
  console.log(`${numRuns} schedules from seed ${seed} with ${Math.round(steps / numRuns)} decisions each: all invariants hold (${Math.round(numRuns / tookS)} schedules/s)`);
}
