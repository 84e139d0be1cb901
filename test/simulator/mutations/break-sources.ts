import { readFileSync } from 'node:fs';
import { registerHooks } from 'node:module';
import { fileURLToPath } from 'node:url';
import { loadWorkflows } from '../bundle.ts';
import { loadBundle } from '../temporal/sdk.ts';
import { rewritten } from './mutation.ts';

/**
 * A rule that no setting switches off, broken on purpose in the sources: what may go wrong where it is whole
 * has to notice.
 */
export interface SourceMutation {
  name: string;
  /** The rule that it breaks. */
  breaks: string;
  /** Name of what may go wrong. */
  caughtBy: string;
  /** In an activity, or in what one calls: what matches stands in the file once. */
  activity?: { file: string; from: RegExp; to: string };
  /** In workflow code, as it stands in the bundle, once. */
  workflow?: { from: RegExp; to: string };
}

/**
 * For a process of its own, in which one thing is broken: only what is loaded from then on is. Prints as JSON
 * what is noticed.
 *
 * @param notice loads what it runs
 */
export async function runMutant(
  mutations: readonly SourceMutation[],
  name: string | undefined,
  notice: (caughtBy: string, bundle: Awaited<ReturnType<typeof loadWorkflows>>) => Promise<string[]>,
): Promise<void> {
  const wanted = mutations.find((mutation) => mutation.name === name);
  if (wanted === undefined) throw new Error(`there is no mutation ${name ?? ''}`);
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
  const whole = await loadWorkflows();
  const bundle =
    workflow === undefined ? whole : await loadBundle(rewritten(whole.code, workflow, 'the workflow bundle'));
  const complaints = await notice(caughtBy, bundle);
  if (!isBroken) throw new Error(`nothing has loaded ${activity?.file}`);
  process.stdout.write(JSON.stringify(complaints));
}
