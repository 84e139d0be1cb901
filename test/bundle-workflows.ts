import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { bundleWorkflowCode, DefaultLogger } from '@temporalio/worker';
import { cacheDirectory, contentKey } from '../runtime/cache.ts';

const root = join(import.meta.dirname, '..');

/**
 * The code of a test's own workflows: bundled once, which takes seconds of a processor, and kept in drover's cache.
 *
 * @param workflowsPath exports the workflow types; it imports from its own folder and from `imported`
 * @param imported folders of the repository
 * @param workflowInterceptorModules in those folders, too
 */
export async function bundleTestWorkflows(
  workflowsPath: string,
  imported: readonly string[] = [],
  workflowInterceptorModules: string[] = [],
): Promise<string> {
  const folder = dirname(workflowsPath);
  const folders = [folder, ...imported.map((name) => join(root, name))];
  const key = contentKey(folders, [readFileSync(join(root, 'package-lock.json'), 'utf8')]);
  const file = join(cacheDirectory(), `${basename(folder)}-workflows-${key}.js`);
  if (existsSync(file)) return readFileSync(file, 'utf8');
  const { code } = await bundleWorkflowCode({
    workflowsPath,
    workflowInterceptorModules,
    logger: new DefaultLogger('WARN'),
  });
  mkdirSync(cacheDirectory(), { recursive: true, mode: 0o700 });
  writeFileSync(`${file}.${process.pid}`, code);
  renameSync(`${file}.${process.pid}`, file);
  return code;
}
