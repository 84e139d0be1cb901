import { msToTs } from '@temporalio/common/lib/time.js';
import { parseConfig } from '../../runtime/config/config.ts';
import type { Poller } from '../../runtime/temporal/task-queues.ts';
import { readPollers } from '../../runtime/temporal/task-queues.ts';
import { judgePollers, neededQueues } from './temporal.ts';

const off = { Eviction: 'off', Hypervisor: 'off' };
const always = ['drover', 'drover', 'kubernetes'];

test.each<[why: string, settings: object, region: string | null, vcenters: string[], more: string[]]>([
  ['nothing', { modes: off }, null, ['vc-1'], []],
  ['a region', {}, 'RegionOne', [], ['nova:RegionOne', 'hosts', 'host-checks']],
  [
    'virtual machines',
    { modes: { VirtualMachine: 'observe' } },
    null,
    ['vc-1', 'vc-2'],
    ['virtual-machines', 'vsphere:vc-1', 'vsphere:vc-2'],
  ],
  [
    'agent pools',
    { modes: { VsphereAgentPool: 'act', VsphereAgent: 'act' } },
    null,
    ['vc-1'],
    ['agents', 'vsphere:vc-1'],
  ],
  ['volumes', { modes: { DataVolume: 'act', StorageProfile: 'act' } }, null, [], ['volumes']],
  ['profiles of storage alone', { modes: { StorageProfile: 'act' } }, null, [], ['volumes']],
  ['Machines', { modes: { Machine: 'act' }, machines: { namespaces: ['garden'] } }, null, [], ['machines']],
])('the queues that %s needs', (_why, settings, region, vcenters, more) => {
  const queues = neededQueues(parseConfig(settings, {}, {}), { region, vcenters });
  expect(queues.map(({ name }) => name)).toEqual([...always, ...more]);
  expect(queues.map(({ of }) => of)).toEqual(['workflow', ...queues.slice(1).map(() => 'activity')]);
});

test('queues begin with the name of the cluster', () => {
  const settings = { cluster: 'blue', modes: { VirtualMachine: 'act' } };
  expect(
    neededQueues(parseConfig(settings, {}, {}), { region: 'east', vcenters: ['vc-1'] }).map(({ name }) => name),
  ).toEqual(
    ['drover', 'drover', 'kubernetes', 'nova:east', 'hosts', 'host-checks', 'virtual-machines', 'vsphere:vc-1'].map(
      (name) => `blue/${name}`,
    ),
  );
});

const now = Date.parse('2026-01-31T12:00:00Z');
const poller = (identity: string, seconds: number | null): Poller => ({
  identity,
  polledAtMs: seconds === null ? null : now - seconds * 1_000,
});

test.each<[why: string, pollers: Poller[], status: string, message: string]>([
  ['no worker', [], 'fail', 'no worker polls it'],
  ['one', [poller('a', 59)], 'ok', 'polled by a'],
  ['one that is ahead by its clock', [poller('a', -20)], 'ok', 'polled by a'],
  ['one of which Temporal says no more', [poller('a', null)], 'ok', 'polled by a'],
  ['many', ['a', 'b', 'c', 'd', 'e'].map((name) => poller(name, 1)), 'ok', 'polled by a, b, c and 2 more'],
  ['one beside one that is gone', [poller('new', 5), poller('old', 200)], 'ok', 'polled by new'],
  ['those that are gone', [poller('late', 185), poller('old', 290)], 'warn', 'last polled 3m 5s ago, by late'],
])('a queue with %s', (_why, pollers, status, message) => {
  expect(judgePollers({ name: 'drover', of: 'workflow' }, pollers, now)).toMatchObject({
    check: 'queue drover (workflow)',
    status,
    message,
    advice: status === 'ok' ? null : expect.stringContaining('drover worker'),
  });
});

test('a worker that polls with several connections is one, as old as its last poll', async () => {
  const at = (seconds: number) => msToTs(seconds * 1_000 + 500);
  const pollers = [
    { identity: 'a', lastAccessTime: at(10) },
    { identity: 'b', lastAccessTime: at(20) },
    { identity: 'a', lastAccessTime: at(30) },
  ];
  const workflowService = { describeTaskQueue: async () => ({ pollers }) };
  const client = { options: { namespace: 'n' }, workflowService } as never;
  expect(await readPollers(client, { name: 'drover', of: 'activity' })).toEqual([
    { identity: 'a', polledAtMs: 30_500 },
    { identity: 'b', polledAtMs: 20_500 },
  ]);
});
