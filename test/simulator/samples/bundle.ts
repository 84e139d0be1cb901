import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { bundleWorkflowCode, DefaultLogger } from '@temporalio/worker';
import { cacheDirectory, contentKey } from '../../../runtime/cache.ts';

const workflowsPath = join(import.meta.dirname, 'workflows.ts');

/** The code of the sample workflows, bundled once and kept in drover's cache. */
export async function bundleSamples(): Promise<string> {
  const lock = readFileSync(join(import.meta.dirname, '../../../package-lock.json'), 'utf8');
  const file = join(cacheDirectory(), `sample-workflows-${contentKey(import.meta.dirname, [lock])}.js`);
  if (existsSync(file)) return readFileSync(file, 'utf8');
  const { code } = await bundleWorkflowCode({ workflowsPath, logger: new DefaultLogger('WARN') });
  mkdirSync(cacheDirectory(), { recursive: true, mode: 0o700 });
  writeFileSync(`${file}.${process.pid}`, code);
  renameSync(`${file}.${process.pid}`, file);
  return code;
}
