import type { Suite } from '../harness/benchmark.ts';
import type { LoadRun } from '../load/load-run.ts';
import { sizes } from './figures.ts';
import { onboardAtOnce } from './onboard.ts';

/** Hypervisors that are brought into service, one by itself and many at once. */
export const onboardingSuite: Suite<LoadRun> = {
  name: 'onboarding',
  title: 'Hypervisors onboarding at once',
  benchmarks: sizes.map(onboardAtOnce),
};
