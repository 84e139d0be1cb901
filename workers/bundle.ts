import { fileURLToPath } from 'node:url';
import { bundleWorkflowCode } from '@temporalio/worker';
import type { DataConverter } from '@temporalio/common';
import type { Logger, WorkflowBundleWithSourceMap } from '@temporalio/worker';

/** All workflow types in one bundle. Takes about a second; a path, not an import, because workflow code runs in a sandbox of its own. */
export const bundleWorkflows = (logger: Logger, { failureConverterPath }: DataConverter = {}): Promise<WorkflowBundleWithSourceMap> =>
  bundleWorkflowCode({ workflowsPath: fileURLToPath(new URL('../workflows/index.ts', import.meta.url)), logger, ...(failureConverterPath !== undefined && { failureConverterPath }) });
