import type { Condition } from '../../contracts/conditions.ts';
import { judgeChecks, judgeForcedDown, judgeGuardsLeft } from '../checks/leftovers.ts';
import { liftConsent } from './adopt.ts';
import type { HypervisorObject } from './hypervisor-objects.ts';
import { forcedDownByOthers, type Guard, guardKinds, guardsLeft } from './leftovers.ts';

const guard = (
  name: string,
  labels: Record<string, string> = { 'cobaltcore-maintenance-controller': name },
): Guard => ({
  metadata: { namespace: 'kube-system', name, uid: name, resourceVersion: '1', labels },
});
const [budgets] = guardKinds;

const rows: [why: string, objects: Guard[], guardsDrain: boolean, nodes: string[]][] = [
  [
    'drover guards no drains: all are left over',
    [guard('maint-node-1'), guard('maint-gone')],
    false,
    ['node-1', 'gone'],
  ],
  ['drover guards them: those of hosts that it drives are its own', [guard('maint-node-1')], true, []],
  ['not those of hosts that it does not drive', [guard('maint-node-2'), guard('maint-gone')], true, ['node-2', 'gone']],
  ['what has no such label is another party’s', [guard('maint-node-1', {})], false, []],
  ['nor what has another name', [guard('other')], false, []],
];

test.each(rows)('guards of the replaced operator: %s', (_why, objects, guardsDrain, nodes) => {
  const hypervisors = [
    { name: 'node-1', lifecycleEnabled: true },
    { name: 'node-2', lifecycleEnabled: false },
  ];
  expect(guardsLeft(budgets, objects, hypervisors, guardsDrain).map(({ node }) => node)).toEqual(nodes);
});

test('hosts that another party has forced down', () => {
  const hypervisor = (name: string, reason: string, status: Condition['status'] = 'True') =>
    ({
      name,
      conditions: [{ type: 'ForcedDown', status, reason, message: '', lastTransitionTime: '2026-01-01T00:00:00Z' }],
    }) as unknown as HypervisorObject;
  const found = forcedDownByOthers([
    hypervisor('a', 'ByOthers'),
    hypervisor('b', 'Fenced'),
    hypervisor('c', 'ByOthers', 'False'),
    { name: 'd', conditions: [] as Condition[] } as HypervisorObject,
  ]);
  expect(found.map(({ name }) => name)).toEqual(['a']);
});

test('the consent says who gave it and when; others stay', () => {
  expect(liftConsent({ annotations: { 'drover.dev/consent': 'delete-allocations' } }, 'jane', 0)).toEqual({
    'drover.dev/consent': 'delete-allocations,lift-forced-down',
    'drover.dev/consent-by': 'jane 1970-01-01T00:00:00.000Z',
  });
});

describe('drover doctor', () => {
  test('names whose drains are held back for ever', () => {
    expect(judgeGuardsLeft('c', [])).toMatchObject({ status: 'ok' });
    expect(judgeGuardsLeft('c', ['n-1', 'n-2', 'n-3', 'n-4', 'n-5', 'n-6'])).toMatchObject({
      status: 'warn',
      message: 'they hold the drains of 6 Nodes back for ever: n-1, n-2, n-3, n-4, n-5, and 1 more',
      advice: expect.stringContaining('drover hosts --adopt') as string,
    });
  });

  test('names hosts that are forced down, but for those that drover has fenced', () => {
    const service = (host: string, forcedDown: boolean, disabledReason: string | null) => ({
      host,
      forcedDown,
      disabledReason,
    });
    expect(judgeForcedDown([service('a', false, null)])).toMatchObject({ status: 'ok' });
    expect(
      judgeForcedDown([
        service('b', true, 'drover: maintenance ha: node failure i-1'),
        service('a', true, null),
        service('c', true, 'HA'),
      ]),
    ).toMatchObject({
      status: 'warn',
      message: '2 that drover has not fenced, which stay out of service: a, c',
    });
  });

  const none = { libvirt: null, ovs: null, ceph: null, smoke: null };
  const some = {} as never;
  test.each([
    ['nothing is driven', none, 'off' as const, []],
    ['no check', none, 'act' as const, ['warn none is configured: hosts go into service untested']],
    [
      'none that starts a server',
      { ...none, libvirt: some },
      'act' as const,
      ['warn libvirt; no server is started on a host before guests are'],
    ],
    ['a server is started', { ...none, smoke: some }, 'observe' as const, ['ok smoke']],
  ])('says what is tested before guests come: %s', (_what, sections, mode, findings) => {
    expect(judgeChecks(sections, mode).map(({ status, message }) => `${status} ${message}`)).toEqual(findings);
  });
});
