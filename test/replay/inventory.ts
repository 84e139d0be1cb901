import { readFileSync, writeFileSync } from 'node:fs';
import { checkout, git } from '../evidence/sources.ts';
import type { Inventory } from './corpus.ts';
import { readReleases, takeInventory } from './corpus.ts';

/** What the corpus has, by release. It stands beside the archives, so that a commit shows what it changes. */
export type Inventories = Readonly<Record<string, Inventory>>;

export interface Manifest {
  releases: Inventories;
  /** What the commit before had: a clone without its history can compare as well. */
  before: Inventories;
}

const path = 'test/replay/histories/manifest.json';

export const readManifest = (): Manifest => JSON.parse(readFileSync(`${checkout}${path}`, 'utf8')) as Manifest;
export const takeInventories = (): Inventories =>
  Object.fromEntries(readReleases().map((release) => [release, takeInventory(release)]));

/** After a recording. */
export function writeManifest(): void {
  const releases = takeInventories();
  const manifest: Manifest = { releases, before: readCommitted('HEAD')?.releases ?? readManifest().before };
  writeFileSync(`${checkout}${path}`, `${JSON.stringify(manifest, null, 1)}\n`);
}

/** What the corpus was before it was changed last, as far back as this clone goes; null: it does not go so far. */
export function readPrevious(): Inventories | null {
  const now = JSON.stringify(takeInventories());
  const commits = ask('log', '--format=%H', '--', path)?.trim().split('\n') ?? [];
  for (const commit of commits) {
    const releases = readCommitted(commit)?.releases;
    if (releases !== undefined && JSON.stringify(releases) !== now) return releases;
  }
  return null;
}

function readCommitted(commit: string): Manifest | null {
  const text = ask('show', `${commit}:${path}`);
  return text === null ? null : (JSON.parse(text) as Manifest);
}

/** Null where git refuses, or there is none. */
function ask(...args: string[]): string | null {
  try {
    return git(args);
  } catch {
    return null;
  }
}

/**
 * How the corpus has become less, a sentence each. Pure.
 *
 * @param exported workflow types that there are: one that is renamed before the first release leaves with its histories
 * @param current the release whose archive may still be written
 */
export function findLosses(
  before: Inventories,
  now: Inventories,
  { exported, current }: { exported: readonly string[]; current: string },
): string[] {
  const [runsBefore, runsNow] = [runsByType(before), runsByType(now)];
  const total = (runs: ReadonlyMap<string, number>): number =>
    [...runs.values()].reduce((sum, count) => sum + count, 0);
  const fewer = [...runsBefore].filter(([type, runs]) => exported.includes(type) && (runsNow.get(type) ?? 0) < runs);
  const altered = Object.keys(before).filter(
    (release) => release !== current && now[release]?.sha256 !== before[release]?.sha256,
  );
  return [
    ...(total(runsNow) < total(runsBefore)
      ? [`${total(runsBefore)} runs were recorded, and ${total(runsNow)} are`]
      : []),
    ...(runsNow.size < runsBefore.size
      ? [`histories of ${runsBefore.size} workflow types were recorded, and of ${runsNow.size} are`]
      : []),
    ...fewer.map(([type, runs]) => `${runs} runs of ${type} were recorded, and ${runsNow.get(type) ?? 0} are`),
    ...altered.map((release) => `the histories of ${release} are others: what a release wrote is never written again`),
  ];
}

/** Of all releases together. */
function runsByType(inventories: Inventories): Map<string, number> {
  const runs = new Map<string, number>();
  for (const { types } of Object.values(inventories))
    for (const [type, count] of Object.entries(types)) runs.set(type, (runs.get(type) ?? 0) + count);
  return runs;
}
