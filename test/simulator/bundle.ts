import { readFileSync } from 'node:fs';
import { DefaultLogger } from '@temporalio/worker';
import { createDataConverters } from '../../runtime/temporal/data-converter.ts';
import { bundleWorkflows } from '../../workers/bundle.ts';
import type { WorkflowBundle } from './temporal/sdk.ts';
import { loadBundle } from './temporal/sdk.ts';

/** One for all simulations of a process. */
let loaded: Promise<WorkflowBundle> | null = null;

/** Drover's workflow types, bundled as its workers do: from drover's cache where no source has changed. */
export const loadWorkflows = (): Promise<WorkflowBundle> => (loaded ??= load());

async function load(): Promise<WorkflowBundle> {
  const bundle = await bundleWorkflows({
    logger: new DefaultLogger('ERROR'),
    dataConverter: createDataConverters(null).worker,
  });
  return await loadBundle('code' in bundle ? bundle.code : readFileSync(bundle.codePath, 'utf8'));
}
