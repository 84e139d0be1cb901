import { globSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DefaultLogger } from '@temporalio/worker';
import { bundleWorkflows } from './bundle.ts';

const logger = new DefaultLogger('ERROR');
const root = mkdtempSync(join(tmpdir(), 'drover-bundle-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));

test('a bundle is made once, and another one for other interceptors', async () => {
  const directory = join(root, 'cache');
  expect(await bundleWorkflows({ logger, directory })).toHaveProperty('code');
  const [name, ...others] = readdirSync(directory);
  expect(others).toEqual([]);
  const codePath = join(directory, name!);
  expect(readFileSync(codePath, 'utf8')).toContain('evictHypervisor');
  expect(statSync(codePath).mode & 0o077).toBe(0);
  expect(await bundleWorkflows({ logger, directory })).toEqual({ codePath });
  expect(
    await bundleWorkflows({
      logger,
      directory,
      interceptorModules: [join(import.meta.dirname, '../workflows/observe-runs.ts')],
    }),
  ).toHaveProperty('code');
  expect(readdirSync(directory)).toHaveLength(2);
});

test('where nothing can be kept it is made each time', async () => {
  const directory = join(root, 'a-file');
  writeFileSync(directory, '');
  expect(await bundleWorkflows({ logger, directory })).toHaveProperty('code');
});

test('no module that runs share keeps anything from one to the next', () => {
  const keeps =
    /^(?:export )?(?:let |const \w+(?:: [^=]+)? = (?:\[\]|\{\}|new (?:Map|Set|WeakMap|WeakSet)(?:<.*>)?\(\));)/mu;
  expect('const seen = new Map<string, number>();').toMatch(keeps);
  const sources = globSync('{workflows,contracts}/**/*.ts', { cwd: join(import.meta.dirname, '..') }).filter(
    (source) => !source.endsWith('.test.ts'),
  );
  expect(sources.length).toBeGreaterThan(100);
  expect(sources.filter((source) => keeps.test(readFileSync(join(import.meta.dirname, '..', source), 'utf8')))).toEqual(
    [],
  );
});
