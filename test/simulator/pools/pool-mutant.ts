/**
 * A process of its own, in which one thing is broken. Its argument names the mutation; it prints as JSON
 * what is noticed.
 */
import { runMutant } from '../mutations/break-sources.ts';
import { poolMutations } from './pool-mutations.ts';

await runMutant(poolMutations, process.argv[2], async (caughtBy, bundle) => {
  const { complaintsOf } = await import('./pool-dangers.ts');
  return await complaintsOf(caughtBy, bundle);
});
