import { fileURLToPath } from 'node:url';
import { bundleWorkflowCode } from '@temporalio/worker';
import type { Logger, WorkflowBundleWithSourceMap } from '@temporalio/worker';

/** All workflow types in one bundle. Takes about a second; a path, not an import, because workflow code runs in a sandbox of its own. */
export const bundleWorkflows = (logger: Logger): Promise<WorkflowBundleWithSourceMap> =>
  bundleWorkflowCode({ workflowsPath: pathOf('index.ts'), workflowInterceptorModules: [pathOf('observe-runs.ts')], logger });

const pathOf = (file: string): string => fileURLToPath(new URL(`../workflows/${file}`, import.meta.url));
