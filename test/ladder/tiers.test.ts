import { existsSync, globSync } from 'node:fs';
import { join } from 'node:path';
import { areas } from '../areas.ts';
import { series } from '../evidence/series.ts';
import { checkout, digestNow } from '../evidence/sources.ts';
import { flowTiers } from '../tiers.ts';

const flows = globSync('test/flows/**/*.test.ts', { cwd: checkout }).map((file) =>
  file.replace(/^test\/flows\//u, '').replace(/\.test\.ts$/u, ''),
);

test('every flow is in one tier, and every row is a flow', () => {
  expect(Object.keys(flowTiers).toSorted()).toEqual(flows.toSorted());
});

test('what is left to the daily run is covered on a push by tests that are there', () => {
  for (const [name, row] of Object.entries(flowTiers)) {
    if (row.tier !== 'daily') continue;
    expect({ name, covered: row.coveredBy.length > 0 }).toEqual({ name, covered: true });
    for (const path of row.coveredBy) {
      const isTest = path.endsWith('.test.ts') && existsSync(join(checkout, path));
      const flow = /^test\/flows\/(.+)\.test\.ts$/u.exec(path)?.[1];
      const isDaily = flow !== undefined && flowTiers[flow]?.tier === 'daily';
      expect({ name, path, isTest, isDaily }).toEqual({ name, path, isTest: true, isDaily: false });
    }
  }
});

test('every area names files', () => {
  for (const globs of Object.values(areas)) expect(digestNow(globs)).toMatch(/^sha256:/u);
});

test('a path that is named by itself is there', () => {
  const named = [...Object.values(areas), ...Object.values(series).map(({ globs }) => globs)]
    .flat()
    .map((glob) => glob.replace(/^[!>|]/u, ''));
  expect(named.filter((path) => !path.includes('*') && !existsSync(join(checkout, path)))).toEqual([]);
});
