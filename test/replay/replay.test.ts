import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { bundleWorkflowCode, DefaultLogger, Runtime } from '@temporalio/worker';
import { bundleWorkflows } from '../../workers/bundle.ts';
import { readCorpus, replay } from './corpus.ts';

/** A run that an earlier release began goes on with these workflows as if nothing had happened. */

const logger = new DefaultLogger('ERROR');
const corpus = readCorpus();

beforeAll(() => {
  Runtime.install({ logger });
});

test('no release’s histories have been lost', () => {
  const releases = Map.groupBy(corpus, ({ file }) => file.split('/')[0]!);
  expect(releases.size).toBeGreaterThan(0);
  for (const [release, runs] of releases) {
    const file = new URL(`histories/${release}/count.json`, import.meta.url);
    expect(existsSync(file)).toBe(true);
    expect(runs).toHaveLength((JSON.parse(readFileSync(file, 'utf8')) as { runs: number }).runs);
  }
});

test('every recorded run is replayed as it was', async () => {
  const { replayed, failures } = await replay(corpus, await bundleWorkflows({ logger }));
  expect(failures).toEqual([]);
  expect(replayed).toBe(corpus.length);
}, 120_000);

test('a change that is not deterministic is caught', async () => {
  const evictions = corpus.filter(({ workflowId }) => workflowId.startsWith('eviction/')).slice(0, 1);
  const altered = await bundleWorkflowCode({ workflowsPath: fileURLToPath(new URL('altered-workflows.ts', import.meta.url)), logger });
  const { failures } = await replay(evictions, altered);
  expect(failures).toHaveLength(1);
  expect(failures[0]).toMatch(/[Nn]ondeterminism|TMPRL1100/u);
}, 60_000);
