import { join } from 'node:path';
import { bundleTestWorkflows } from '../../bundle-workflows.ts';

/** The code of the sample workflows. */
export const bundleSamples = (): Promise<string> => bundleTestWorkflows(join(import.meta.dirname, 'workflows.ts'));
