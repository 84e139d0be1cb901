import { statSync } from 'node:fs';
import { basename } from 'node:path';
import { type EvidenceRecord, readRecords } from '../evidence/record.ts';
import { stagesIn } from './whole.ts';

/** Flows run two at a time: a long one that begins last keeps one of the two waiting for its end. */

/**
 * Seconds by file name, as the whole ladder of that record took them. One that ran over the fakes, too, is as long as
 * it was on the real counterparts. Pure.
 */
export function readSeconds(record: Pick<EvidenceRecord, 'details'> | undefined): ReadonlyMap<string, number> {
  const files = record === undefined ? [] : stagesIn(record).flatMap(({ took }) => took);
  const byName = Map.groupBy(files, ({ what }) => what);
  return new Map([...byName].map(([name, its]) => [name, Math.max(...its.map(({ seconds }) => seconds))]));
}

/** Of what no record has: small files that start a world of their own take long, whatever they hold. */
const guessOf = (name: string): number =>
  name.startsWith('contract-openstack')
    ? 600
    : ['chaos', 'matrix', 'matrix-virtual-machine', 'eviction-history'].includes(name)
      ? 300
      : 120;

interface TestFile {
  /** Absolute. */
  path: string;
}

/** Jest asks it for the order; the rest of its interface is for what drover's tests do not use. */
export default class LongestFirst {
  sort(tests: readonly TestFile[]): TestFile[] {
    const seconds = readSeconds(readRecords('test-all').at(-1));
    const known = tests.map((test) => {
      const name = basename(test.path, '.test.ts');
      return { test, seconds: seconds.get(name) ?? guessOf(name), size: statSync(test.path).size };
    });
    return known.toSorted((a, b) => b.seconds - a.seconds || b.size - a.size).map(({ test }) => test);
  }
  cacheResults(): void {}
  allFailedTests(tests: readonly TestFile[]): readonly TestFile[] {
    return tests;
  }
  shard(tests: readonly TestFile[]): readonly TestFile[] {
    return tests;
  }
}
