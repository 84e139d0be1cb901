import type { Answer, EvictionRun } from '../eviction/eviction-objects.ts';
import type { HypervisorObject } from './hypervisor-objects.ts';
import type { HostFilter } from './listed-host.ts';
import { listHosts, needsAttention } from './listed-host.ts';
import { renderHosts } from '../render/hypervisor.ts';
import { coloured, plain } from '../render/paint.ts';
import { ago, now, sampleProgress } from '../../test/fixtures/starters/progress.ts';
import { lifecycle, sampleHypervisor, terminating } from '../../test/fixtures/starters/hypervisor.ts';

const late = {
  ...terminating,
  type: 'Offboarded',
  status: 'False' as const,
  reason: 'Offboarding',
  message: 'Waiting for x. The machine is taken away at y, and more than half of the time is over',
};

const failure = { type: 'NodeFailure', reason: 'NoWitness', message: 'node-1 is silent', lastTransitionTime: ago(60) };

test.each<[why: string, facts: Partial<HypervisorObject>, needs: boolean]>([
  ['in service', {}, false],
  ['on its way', { conditions: [lifecycle('Testing', 'Unknown', 'Waiting for the next attempt')] }, false],
  ['aborted', { conditions: [lifecycle('Aborted', 'False')] }, true],
  ['in service, with a problem', { conditions: [lifecycle('Active', 'False')] }, true],
  [
    'waits for a person',
    { conditions: [lifecycle('Ready', 'Unknown', 'Waiting for an operator to enable node-1')] },
    true,
  ],
  ['its time is half over', { conditions: [lifecycle('Evicting', 'Unknown'), late] }, true],
  [
    'it was, and was taken out of Nova in time',
    { conditions: [lifecycle('Decommissioned'), { ...late, status: 'True' }] },
    false,
  ],
  ['its lifecycle is disabled', { lifecycleEnabled: false, conditions: [lifecycle('Initial', 'False')] }, false],
  [
    'its lifecycle is disabled, but its Eviction failed',
    { lifecycleEnabled: false, conditions: [lifecycle('Evicting', 'False')] },
    true,
  ],
  ['what was said of another spec', { conditions: [lifecycle('Aborted', 'False', 'x', 2)] }, false],
  ['nothing was said', { conditions: [] }, false],
  ['its host has failed', { conditions: [lifecycle('Active', 'True'), { ...failure, status: 'True' }] }, true],
  [
    'it was, and is well again',
    { conditions: [lifecycle('Active', 'True'), { ...failure, status: 'False', reason: 'Restored' }] },
    false,
  ],
  [
    'its host is only watched',
    { conditions: [lifecycle('Active', 'True'), { ...failure, status: 'Unknown', reason: 'Silent' }] },
    false,
  ],
  [
    'it is being emptied live',
    { conditions: [lifecycle('Evicting', 'Unknown'), { ...failure, status: 'True', reason: 'HandedOver' }] },
    false,
  ],
])('needs attention: %s', (_why, facts, needs) => {
  expect(needsAttention(sampleHypervisor(facts))).toBe(needs);
});

const run = (host: string): EvictionRun => ({
  workflowId: `eviction/${host}`,
  runId: `run-${host}`,
  host,
  status: 'Running',
  startedAt: ago(9),
  endedAt: null,
  phase: 'Moving',
  reason: null,
});
const fleet = [
  sampleHypervisor({ name: 'node-10', libVirtVersion: null, conditions: [] }),
  sampleHypervisor({
    name: 'node-2',
    maintenance: 'manual',
    maintenanceReason: 'disks\u001b[2J of the second shelf, all of them',
    conditions: [lifecycle('Evicting', 'Unknown', 'Waiting for Eviction node-2: 1 of 4')],
  }),
  sampleHypervisor({ name: 'node-3', maintenance: 'termination', conditions: [lifecycle('Evicting', 'Unknown')] }),
  sampleHypervisor({ name: 'node-4', conditions: [lifecycle('Active', 'True'), terminating], generation: 4 }),
  sampleHypervisor({
    name: 'node-20',
    conditions: [lifecycle('Aborted', 'False', 'Onboarding was aborted: no zone')],
    instances: 0,
  }),
];
const answers = new Map<string, Answer>([['run-node-2', sampleProgress()]]);
const list = (filter: Partial<HostFilter> = {}) =>
  listHosts(fleet, [run('node-2'), run('node-3'), run('elsewhere')], answers, {
    states: [],
    attention: false,
    ...filter,
  });

test('the table', () => {
  expect(renderHosts(list(), now, plain, 200)).toEqual([
    'HOST     STATE      SINCE  INSTANCES  EVICTION                   LIBVIRT  MAINTENANCE                             WHY',
    'node-20  Aborted !     2m          0  -                          10.0.0   -                                       Onboarding was aborted: no zone',
    'node-2   Evicting      2m         12  Moving 1/4, 1 blocked      10.0.0   manual: disks of the second shelf, al…  Waiting for Eviction node-2: 1 of 4',
    'node-3   Evicting      2m         12  Moving, no worker answers  10.0.0   termination                             Evicting it is',
    'node-4   Active        2m         12  -                          10.0.0   its Node terminates                     its spec has changed since',
    'node-10  -              -         12  -                          -        -                                       no run has said anything yet',
  ]);
});

test('what needs attention stands out in colours, too', () => {
  const [, aborted = '', evicting = ''] = renderHosts(list(), now, coloured, Infinity);
  expect([aborted, evicting]).toEqual([
    expect.stringContaining('\u001b[31mAborted !'),
    expect.stringContaining('\u001b[36mEvicting'),
  ]);
});

test.each<[why: string, filter: Partial<HostFilter>, hosts: string[]]>([
  ['all', {}, ['node-20', 'node-2', 'node-3', 'node-4', 'node-10']],
  ['of some states', { states: ['Evicting', 'Active'] }, ['node-2', 'node-3', 'node-4']],
  ['that need attention', { attention: true }, ['node-20']],
  ['both', { attention: true, states: ['Evicting'] }, []],
])('the filter: %s', (_why, filter, hosts) => {
  expect(list(filter).map(({ host }) => host)).toEqual(hosts);
});

test('one that is only observed says what would be done', () => {
  const observed = sampleHypervisor({
    conditions: [{ ...terminating, type: 'Observed', message: 'Observed only; next would be: Disable node-1 in Nova' }],
  });
  const [, line] = renderHosts(listHosts([observed], [], new Map(), { states: [], attention: false }), now, plain, 200);
  expect(line).toMatch(/^node-1 +- .*Observed only; next would be: Disable node-1 in Nova$/u);
});

test('none', () => {
  expect(renderHosts([], now, plain, 80)).toEqual(['No Hypervisor is so.']);
});

test('of a host that has failed, that is what is shown', () => {
  const [listed] = listHosts(
    [sampleHypervisor({ conditions: [lifecycle('Active', 'True'), { ...failure, status: 'True' }] })],
    [],
    new Map(),
    { states: [], attention: true },
  );
  expect(listed).toMatchObject({ state: 'Active', needsAttention: true, message: 'node-1 is silent' });
});
