// Flows run two at a time: a long one that begins last keeps one of the two waiting for its end.
import { statSync } from 'node:fs';

/** Those that take more than two minutes beside another, the longest first. */
const longest = [
  'nova-activities',
  'eviction-durability',
  'hypervisor-arrows',
  'eviction-bad-input',
  'chaos',
  'eviction-moves',
  'matrix',
  'openstack-lab',
  'cli',
  'canaries',
  'eviction-limits',
  'eviction-history',
  'eviction-hazards',
  'hypervisor-openstack',
  'hypervisor-commands',
  'payload-codec',
  'node-failure-run',
  'eviction-cancel',
  'eviction-re-enable',
  'eviction-modes',
  'eviction-commands',
  'web-ui',
  'openstack-adapters',
  'node-failure',
  'hypervisor-checks',
  'allowance',
];

const turn = ({ path }) => {
  const index = longest.findIndex((name) => path.endsWith(`/flows/${name}.test.ts`));
  return index === -1 ? longest.length : index;
};

/** Jest asks it for the order; the rest of its interface is for what drover's tests do not use. */
export default class LongestFirst {
  sort(tests) {
    const known = tests.map((test) => ({ test, turn: turn(test), size: statSync(test.path).size }));
    return known.toSorted((a, b) => a.turn - b.turn || b.size - a.size).map(({ test }) => test);
  }
  cacheResults() {}
  allFailedTests(tests) {
    return tests;
  }
  shard(tests) {
    return tests;
  }
}
