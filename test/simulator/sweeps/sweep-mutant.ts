/**
 * A process of its own, in which one thing is broken. Its argument names the mutation; it prints as JSON
 * what is noticed.
 */
import { runMutant } from '../mutations/break-sources.ts';
import { sweepMutations } from './sweep-mutations.ts';

await runMutant(sweepMutations, process.argv[2], async (caughtBy, bundle) => {
  const { complaintsOf, endOf } = await import('./sweep-mutation-dangers.ts');
  return complaintsOf(caughtBy, await endOf(caughtBy, bundle));
});
