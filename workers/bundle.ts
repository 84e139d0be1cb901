import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { bundleWorkflowCode } from '@temporalio/worker';
import type { DataConverter } from '@temporalio/common';
import type { Logger, WorkflowBundleOption } from '@temporalio/worker';
import { cacheDirectory, contentKey } from '../runtime/cache.ts';

export interface BundleOptions {
  logger: Logger;
  dataConverter?: DataConverter;
  /** Of interceptors besides drover's own. */
  interceptorModules?: readonly string[];
  /** Where bundles are kept from one start to the next. Default: drover's cache. */
  directory?: string;
}

/**
 * All workflow types in one bundle; a path, not an import, because workflow code runs in a sandbox of its own. Making
 * it costs some seconds of a processor, which a worker that starts after a crash should not need: so it is kept, under
 * a name made of all that goes into it. Where nothing can be kept, it is made each time.
 */
export async function bundleWorkflows({
  logger,
  dataConverter: { failureConverterPath } = {},
  interceptorModules = [],
  directory = cacheDirectory(),
}: BundleOptions): Promise<WorkflowBundleOption> {
  const file = join(
    directory,
    `workflows-${contentKey(['workflows', 'contracts'].map(pathOf), [thisFile(), lockOfPackages(), failureConverterPath ?? '', ...interceptorModules])}.js`,
  );
  if (existsSync(file)) return { codePath: file };
  const bundle = await bundleWorkflowCode({
    workflowsPath: allTypes,
    workflowInterceptorModules: [...interceptorModules, runObserver],
    // Evaluated once for all runs rather than for each: no module of theirs keeps anything, and what is
    // shared is frozen.
    preloadModules: [allTypes, runObserver],
    logger,
    ...(failureConverterPath !== undefined && { failureConverterPath }),
  });
  try {
    keep(file, directory, bundle.code);
  } catch (error) {
    logger.debug(`the workflow bundle is not kept: ${(error as Error).message}`);
  }
  return bundle;
}

/** Renamed when it is whole: several workers may start at once. */
function keep(file: string, directory: string, code: string): void {
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  const unfinished = `${file}.${process.pid}`;
  writeFileSync(unfinished, code, { mode: 0o600 });
  renameSync(unfinished, file);
}

/** Says how it is made. */
const thisFile = (): string => readFileSync(import.meta.filename, 'utf8');

/** Says which versions of the SDK and of the bundler go into it. */
const lockOfPackages = (): string => readFileSync(pathOf('package-lock.json'), 'utf8');

const pathOf = (name: string): string => fileURLToPath(new URL(`../${name}`, import.meta.url));

const allTypes = pathOf('workflows/index.ts');
const runObserver = pathOf('workflows/observe-runs.ts');
