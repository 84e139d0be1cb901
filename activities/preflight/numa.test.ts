import { instanceDetail } from '../../test/fixtures/activities/nova.ts';
import type { InstanceDetail } from '../nova/types.ts';
import { mayHold, type NumaCell, numaDemandOf } from './numa.ts';

const base = { vcpus: 4, memoryMiB: 8_192 };

test.each<[why: string, change: Partial<InstanceDetail>, what: string | null, nodes?: [number, number][]]>([
  ['an ordinary server', {}, null],
  ['a shared policy', { extraSpecs: { 'hw:cpu_policy': 'shared' } }, null],
  ['pinned by its flavor', { extraSpecs: { 'hw:cpu_policy': 'dedicated' } }, 'pinned CPUs', [[4, 8_192]]],
  ['pinned by its image', { imageProperties: { hw_cpu_policy: 'dedicated' } }, 'pinned CPUs', [[4, 8_192]]],
  ['in part', { extraSpecs: { 'hw:cpu_policy': 'mixed' } }, 'pinned CPUs', [[4, 8_192]]],
  ['huge pages', { extraSpecs: { 'hw:mem_page_size': '1GB' } }, 'huge pages (1GB)', [[4, 8_192]]],
  ['pages of the usual size', { extraSpecs: { 'hw:mem_page_size': 'small' } }, 'one NUMA node', [[4, 8_192]]],
  [
    'nodes, evenly',
    { extraSpecs: { 'hw:numa_nodes': '2', 'hw:mem_page_size': 'large' } },
    'huge pages (large), 2 NUMA nodes',
    [
      [2, 4_096],
      [2, 4_096],
    ],
  ],
  [
    'nodes of their own sizes',
    {
      extraSpecs: {
        'hw:numa_nodes': '2',
        'hw:numa_cpus.0': '0-2,^1',
        'hw:numa_mem.0': '6144',
        'hw:numa_cpus.1': '1,3',
        'hw:numa_mem.1': '2048',
      },
    },
    '2 NUMA nodes',
    [
      [2, 6_144],
      [2, 2_048],
    ],
  ],
])('%s', (_why, change, what, nodes = []) => {
  const demand = numaDemandOf(instanceDetail({ ...base, ...change }));
  expect(demand?.what ?? null).toBe(what);
  expect(demand?.nodes ?? []).toEqual(nodes.map(([vcpus, memoryMiB]) => ({ vcpus, memoryMiB })));
});

const cell = (cpus: number | null, memoryMiB: number | null): NumaCell => ({ cpus, memoryMiB });
const demand = (...nodes: [number, number][]) => ({
  what: '',
  nodes: nodes.map(([vcpus, memoryMiB]) => ({ vcpus, memoryMiB })),
});

test.each<[why: string, cells: NumaCell[], wanted: ReturnType<typeof demand>, may: boolean]>([
  ['no cells are reported', [], demand([64, 1_000_000]), true],
  ['it just fits', [cell(4, 8)], demand([4, 8]), true],
  ['too many CPUs', [cell(3, 8), cell(3, 8)], demand([4, 8]), false],
  ['too much memory', [cell(4, 7)], demand([4, 8]), false],
  ['a node needs a cell of its own', [cell(8, 16)], demand([4, 8], [4, 8]), false],
  ['two of them', [cell(8, 16), cell(8, 16)], demand([4, 8], [4, 8]), true],
  ['the small one leaves the large cell', [cell(8, 16), cell(8, 8)], demand([4, 8], [4, 16]), true],
  ['what is not reported is not held against it', [cell(null, null)], demand([4, 8]), true],
])('cells: %s', (_why, cells, wanted, may) => {
  expect(mayHold(cells, wanted)).toBe(may);
});
