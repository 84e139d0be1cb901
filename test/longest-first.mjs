// Flows run two at a time: a long one that begins last keeps one of the two waiting for its end.
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { basename } from 'node:path';

const records = new URL('../evidence/test-all/', import.meta.url);

/**
 * Seconds by file name, as the last whole run took them: `name seconds`. Files that it did not have are ordered by size.
 */
function readSeconds() {
  const last = existsSync(records)
    ? readdirSync(records)
        .filter((file) => file.endsWith('.json'))
        .toSorted()
        .at(-1)
    : undefined;
  if (last === undefined) return new Map();
  const { details } = JSON.parse(readFileSync(new URL(last, records), 'utf8'));
  return new Map(
    details.stages
      .flatMap(({ took }) => took.map((line) => line.split(' ')))
      .map(([name, seconds]) => [name, Number(seconds)]),
  );
}

/** Of what no record has: small files that start a world of their own take long, whatever they hold. */
const guessOf = (name) =>
  name.startsWith('contract-openstack')
    ? 600
    : ['chaos', 'matrix', 'matrix-virtual-machine', 'eviction-history'].includes(name)
      ? 300
      : 120;

/** Jest asks it for the order; the rest of its interface is for what drover's tests do not use. */
export default class LongestFirst {
  sort(tests) {
    const seconds = readSeconds();
    const secondsOf = (path) => {
      const name = basename(path, '.test.ts');
      return seconds.get(name) ?? guessOf(name);
    };
    const known = tests.map((test) => ({ test, seconds: secondsOf(test.path), size: statSync(test.path).size }));
    return known.toSorted((a, b) => b.seconds - a.seconds || b.size - a.size).map(({ test }) => test);
  }
  cacheResults() {}
  allFailedTests(tests) {
    return tests;
  }
  shard(tests) {
    return tests;
  }
}
