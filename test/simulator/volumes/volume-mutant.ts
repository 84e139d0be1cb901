/**
 * A process of its own, in which one thing is broken. Its argument names the mutation; it prints as JSON
 * what is noticed.
 */
import { runMutant } from '../mutations/break-sources.ts';
import { volumeMutations } from './volume-mutations.ts';

await runMutant(volumeMutations, process.argv[2], async (caughtBy, bundle) => {
  const { complaintsOf } = await import('./volume-dangers.ts');
  return await complaintsOf(caughtBy, bundle);
});
