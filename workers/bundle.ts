import { fileURLToPath } from 'node:url';
import { bundleWorkflowCode } from '@temporalio/worker';
import type { DataConverter } from '@temporalio/common';
import type { Logger, WorkflowBundleWithSourceMap } from '@temporalio/worker';

/**
 * All workflow types in one bundle. Takes about a second; a path, not an import, because workflow code runs in a sandbox of its own.
 *
 * @param interceptorModules of interceptors besides drover's own
 */
export const bundleWorkflows = (logger: Logger, { failureConverterPath }: DataConverter = {}, interceptorModules: readonly string[] = []): Promise<WorkflowBundleWithSourceMap> =>
  bundleWorkflowCode({
    workflowsPath: pathOf('index.ts'),
    workflowInterceptorModules: [...interceptorModules, pathOf('observe-runs.ts')],
    logger,
    ...(failureConverterPath !== undefined && { failureConverterPath }),
  });

const pathOf = (file: string): string => fileURLToPath(new URL(`../workflows/${file}`, import.meta.url));
