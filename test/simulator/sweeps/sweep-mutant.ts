/** A process of its own, in which one thing is broken. Its argument names the mutation; it prints as JSON what is noticed. */
import { readFileSync } from 'node:fs';
import { registerHooks } from 'node:module';
import { fileURLToPath } from 'node:url';
import { rewritten } from '../mutations/mutation.ts';
import { sweepMutations } from './sweep-mutations.ts';

const wanted = sweepMutations.find(({ name }) => name === process.argv[2]);
if (wanted === undefined) throw new Error(`there is no mutation ${process.argv[2] ?? ''}`);
const { activity, workflow, caughtBy } = wanted;
let isBroken = activity === undefined;

registerHooks({
  load(url, context, nextLoad) {
    const loaded = nextLoad(url, context);
    if (activity === undefined || !url.endsWith(`/${activity.file}`)) return loaded;
    isBroken = true;
    return { ...loaded, source: rewritten(readFileSync(fileURLToPath(url), 'utf8'), activity, activity.file) };
  },
});

// Only what is loaded from now on is broken.
const { complaintsOf, endOf } = await import('./sweep-mutation-dangers.ts');
const { loadWorkflows } = await import('../bundle.ts');
const { loadBundle } = await import('../temporal/sdk.ts');
const whole = await loadWorkflows();
const bundle =
  workflow === undefined ? whole : await loadBundle(rewritten(whole.code, workflow, 'the workflow bundle'));
const complaints = complaintsOf(caughtBy, await endOf(caughtBy, bundle));
if (!isBroken) throw new Error(`nothing has loaded ${activity?.file}`);
process.stdout.write(JSON.stringify(complaints));
