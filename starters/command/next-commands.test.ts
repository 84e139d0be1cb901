import type { Situation } from './next-commands.ts';
import { nextCommands } from './next-commands.ts';
import { sampleInstance, sampleProgress } from '../../test/fixtures/starters/progress.ts';

const situation = (facts: Partial<Situation>): Situation => ({
  host: 'node-1',
  running: true,
  progress: sampleProgress({ instances: [] }),
  outcome: null,
  eviction: { name: 'node-1', reconciled: false },
  obstacles: [],
  stopped: false,
  leftDisabled: null,
  ...facts,
});
const steer = ['drover watch node-1', 'drover cancel node-1'];
const again = ['drover retry node-1', 'openstack compute service set --enable node-1 nova-compute'];
const blocked = (name: string, id = `${name}-id`) => sampleInstance({ name, id, state: 'blocked' });

test.each<[why: string, facts: Partial<Situation>, commands: string[]]>([
  ['a run that works', {}, steer],
  ['a run without a worker', { progress: null }, ['drover doctor', 'drover worker', ...steer]],
  [
    'a paused run',
    { progress: sampleProgress({ instances: [], paused: 'lunch' }) },
    ['drover resume node-1', ...steer],
  ],
  ['a stop holds it up', { stopped: true }, ['drover stop --show', 'drover stop --lift', ...steer]],
  [
    'obstacles that are not accepted',
    { obstacles: ['LocalDisk/5f0a'] },
    ['drover accept node-1 LocalDisk/5f0a', ...steer],
  ],
  [
    'blocked instances, by name or by id',
    {
      progress: sampleProgress({
        instances: [
          blocked('web-1'),
          blocked('rm -rf /', 'id-2'),
          blocked('twin', 'id-3'),
          sampleInstance({ name: 'twin' }),
        ],
      }),
    },
    [
      'drover retry node-1 web-1',
      'drover skip node-1 web-1',
      'drover retry node-1 id-2',
      'drover skip node-1 id-2',
      'drover retry node-1 id-3',
      'drover skip node-1 id-3',
      ...steer,
    ],
  ],
  [
    'not the hundredth of them',
    { obstacles: ['A', 'B', 'C', 'D'] },
    ['drover accept node-1 A', 'drover accept node-1 B', 'drover accept node-1 C', ...steer],
  ],
  [
    'an Eviction without a run',
    { running: false, progress: null },
    ['drover retry node-1', 'drover doctor', 'kubectl delete evictions.kvm.cloud.sap node-1'],
  ],
  ['nothing at all', { running: false, progress: null, eviction: null }, ['drover evict node-1 --reason "…"']],
  ['it failed', { running: false, outcome: 'Failed', progress: null }, again],
  [
    'it failed at obstacles',
    { running: false, outcome: 'Failed', progress: null, obstacles: ['NoTargets'] },
    ['drover accept node-1 NoTargets', ...again],
  ],
  ['it was stopped', { running: false, outcome: 'Stopped' }, again],
  ['it was terminated', { running: false, outcome: 'Terminated' }, again],
  [
    'it was stopped, and gave the host back',
    { running: false, outcome: 'Stopped', leftDisabled: false },
    ['drover retry node-1'],
  ],
  ['it succeeded', { running: false, outcome: 'Succeeded', leftDisabled: false }, ['drover ls']],
  [
    'it succeeded and holds the host',
    { running: false, outcome: 'Succeeded', leftDisabled: true },
    ['openstack compute service set --enable node-1 nova-compute', 'drover ls'],
  ],
  ['it only looked', { running: false, outcome: 'Observed' }, ['drover evict node-1 --reason "…"']],
])('%s', (_why, facts, commands) => {
  expect(nextCommands(situation(facts)).map(({ command }) => command)).toEqual(commands);
});
