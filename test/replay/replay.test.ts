import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { DefaultLogger } from '@temporalio/worker';
import { bundleWorkflows } from '../../workers/bundle.ts';
import * as workflows from '../../workflows/index.ts';
import { bundleTestWorkflows } from '../bundle-workflows.ts';
import { quietTemporal } from '../quiet-temporal.ts';
import { readCorpus, replay } from './corpus.ts';
import { findLosses, readManifest, readPrevious, takeInventories } from './inventory.ts';

/** A run that an earlier release began goes on with these workflows as if nothing had happened. */

const logger = new DefaultLogger('ERROR');
const corpus = readCorpus();
const exported = Object.keys(workflows);
const { version: current } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as {
  version: string;
};

beforeAll(quietTemporal);

test('the manifest says what is in the archives', () => {
  const { releases } = readManifest();
  expect(takeInventories()).toEqual(releases);
  expect(Object.keys(releases)).toContain(current);
});

test('no histories have been lost since the commit before', () => {
  const { releases, before } = readManifest();
  expect(findLosses(before, releases, { exported, current })).toEqual([]);
  expect(findLosses(readPrevious() ?? before, releases, { exported, current })).toEqual([]);
});

test('every workflow type has histories', () => {
  // It runs for ever, and no scenario has a content library yet.
  const without = ['syncContentLibrary'];
  const recorded = Object.values(readManifest().releases).flatMap(({ types }) => Object.keys(types));
  expect(exported.filter((type) => !recorded.includes(type)).toSorted()).toEqual(without);
});

test('every recorded run is replayed as it was', async () => {
  const { replayed, failures } = await replay(corpus, await bundleWorkflows({ logger }));
  expect(failures).toEqual([]);
  expect(replayed).toBe(corpus.length);
}, 1_800_000);

test('a change that is not deterministic is caught', async () => {
  const evictions = corpus.filter(({ workflowId }) => workflowId.startsWith('eviction/')).slice(0, 1);
  const workflowsPath = fileURLToPath(new URL('altered-workflows.ts', import.meta.url));
  const code = await bundleTestWorkflows(workflowsPath, ['workflows', 'contracts']);
  const { failures } = await replay(evictions, { code });
  expect(failures).toHaveLength(1);
  expect(failures[0]).toMatch(/[Nn]ondeterminism|TMPRL1100/u);
}, 1_800_000);
