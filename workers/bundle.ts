import { fileURLToPath } from 'node:url';
import { bundleWorkflowCode } from '@temporalio/worker';
import type { Logger, WorkflowBundleWithSourceMap } from '@temporalio/worker';

/**
 * All workflow types in one bundle. Takes about a second; a path, not an import, because workflow code runs in a sandbox of its own.
 *
 * @param more modules of interceptors besides drover's own
 */
export const bundleWorkflows = (logger: Logger, more: readonly string[] = []): Promise<WorkflowBundleWithSourceMap> =>
  bundleWorkflowCode({ workflowsPath: pathOf('index.ts'), workflowInterceptorModules: [...more, pathOf('observe-runs.ts')], logger });

const pathOf = (file: string): string => fileURLToPath(new URL(`../workflows/${file}`, import.meta.url));
