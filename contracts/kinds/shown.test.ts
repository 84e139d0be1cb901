import type { KindRow } from './kind.ts';
import type { KubeObject } from './object.ts';
import { kindTable } from './table.ts';

const condition = (type: string, status: string, reason: string, more: object = {}) => ({
  type,
  status,
  reason,
  message: '',
  lastTransitionTime: '2026-01-01T00:00:00Z',
  observedGeneration: 1,
  ...more,
});

const object = (
  conditions: object[],
  more: { spec?: object; annotations?: Record<string, string>; status?: object } = {},
) =>
  ({
    metadata: {
      name: 'node-1',
      uid: 'u1',
      resourceVersion: '1',
      generation: 1,
      ...(more.annotations && { annotations: more.annotations }),
    },
    spec: more.spec ?? {},
    status: { conditions, ...more.status },
  }) as KubeObject;

describe('what a Hypervisor shows', () => {
  const show = (given: KubeObject, mode: 'act' | 'observe' = 'act') => kindTable.Hypervisor.shown(given, mode);

  test.each([
    ['in service', [condition('Lifecycle', 'True', 'Active')], {}, 'Active', null],
    ['on its way', [condition('Lifecycle', 'Unknown', 'Testing')], {}, 'Testing', null],
    ['aborted', [condition('Lifecycle', 'False', 'Aborted')], {}, 'Aborted', 'Aborted'],
    [
      'aborted, of an earlier spec',
      [condition('Lifecycle', 'False', 'Aborted', { observedGeneration: 0 })],
      {},
      'Aborted',
      null,
    ],
    [
      'never onboarded, as no user wants it',
      [condition('Lifecycle', 'False', 'Initial')],
      { spec: { lifecycleEnabled: false } },
      'Initial',
      null,
    ],
    [
      'waiting for an operator',
      [condition('Lifecycle', 'Unknown', 'Maintenance', { message: 'Waiting for an operator to say that it is off' })],
      {},
      'Maintenance',
      'Maintenance',
    ],
    [
      'failed, and no operator has taken it over',
      [condition('Lifecycle', 'True', 'Active'), condition('NodeFailure', 'True', 'NoWitness')],
      {},
      'Active',
      'NoWitness',
    ],
    [
      'failed, and taken over',
      [condition('Lifecycle', 'Unknown', 'Maintenance'), condition('NodeFailure', 'True', 'HandedOver')],
      {},
      'Maintenance',
      null,
    ],
    ['of which nothing is said', [], {}, 'Unknown', null],
    [
      'only observed',
      [condition('Observed', 'True', 'Observed')],
      { annotations: { 'drover.dev/mode': 'observe' } },
      'Observed',
      null,
    ],
  ])('%s', (_, conditions, more, state, attention) => {
    expect(show(object(conditions, more))).toMatchObject({ state, attention });
  });

  test('traits and aggregates that could not be written are signs', () => {
    const failing = [
      condition('TraitsUpdated', 'False', 'Failed'),
      condition('AggregatesUpdated', 'False', 'WaitingForTraits'),
      condition('HaEnabled', 'False', 'Failed'),
    ];
    expect(show(object(failing)).signs).toEqual([{ condition: 'TraitsUpdated', reason: 'Failed' }]);
  });
});

describe('what an Eviction shows', () => {
  const show = (conditions: object[], annotations: Record<string, string> = {}) =>
    kindTable.Eviction.shown(object(conditions, { annotations }), 'act');

  test.each([
    ['runs', condition('Evicting', 'True', 'Running'), 'Running', null],
    ['succeeded', condition('Evicting', 'False', 'Succeeded'), 'Succeeded', null],
    ['was stopped by a user', condition('Evicting', 'False', 'Stopped'), 'Stopped', null],
    ['failed', condition('Evicting', 'False', 'Failed'), 'Failed', 'Failed'],
    ['was refused', condition('Evicting', 'False', 'PreflightFailed'), 'PreflightFailed', 'PreflightFailed'],
    [
      'failed under the replaced operator',
      condition('Evicting', 'False', 'Failed', { observedGeneration: undefined }),
      'Failed',
      null,
    ],
  ])('one that %s', (_, said, state, attention) => {
    expect(show([said])).toEqual({ state, reason: state, attention, cause: 'admin', signs: [], deadlineMs: null });
  });

  test.each([
    ['goes on', 'Running', '1 of 2 servers have left node-1; 1 not moved. Waiting for 1 in flight', 'Running'],
    ['is paused', 'Running', '1 of 2 servers have left node-1. Paused by ann. Waiting for 1 in flight', 'Paused'],
    ['is stopping', 'Running', '1 of 2 servers have left node-1. Stopping, after ann', 'Stopping'],
    [
      'waits out an error',
      'Running',
      '1 of 2 servers have left node-1. NovaUnavailable: Nova is away',
      'NovaUnavailable',
    ],
    ['says so as its reason', 'Paused', 'whatever', 'Paused'],
  ])('one that %s', (_, reason, message, state) => {
    expect(show([condition('Evicting', 'True', reason, { message })])).toMatchObject({ state, reason: state });
  });

  test('a deadline that is near is a sign', () => {
    const said = [condition('Evicting', 'True', 'Running'), condition('OnTime', 'False', 'MarginShort')];
    expect(show(said).signs).toEqual([{ condition: 'OnTime', reason: 'MarginShort' }]);
  });

  test('its cause, and its deadline until it is over', () => {
    const given = { 'drover.dev/eviction-cause': 'termination', 'drover.dev/deadline': '2026-01-01T00:10:00Z' };
    expect(show([condition('Evicting', 'True', 'Running')], given)).toMatchObject({
      cause: 'termination',
      deadlineMs: Date.parse('2026-01-01T00:10:00Z'),
    });
    expect(show([condition('Evicting', 'False', 'Failed')], given).deadlineMs).toBeNull();
  });
});

test.each([
  ['a VM that is blocked', 'VirtualMachine', object([condition('Lifecycle', 'False', 'Blocked')]), 'Blocked'],
  ['a VM on its way', 'VirtualMachine', object([condition('Lifecycle', 'Unknown', 'Creating')]), null],
  ['a clone that was given up', 'DataVolume', object([], { status: { phase: 'Failed' } }), 'Failed'],
  ['a clone on its way', 'DataVolume', object([], { status: { phase: 'CloneInProgress' } }), null],
] as const)('%s needs attention, or not', (_, kind, given, attention) => {
  const row: KindRow = kindTable[kind];
  expect(row.shown?.(given, 'act').attention).toBe(attention);
});

test('whatever is in an object, it is shown', () => {
  for (const status of [
    null,
    3,
    { conditions: 'odd' },
    { conditions: [null, 3, {}] },
    { conditions: [{ type: 'Lifecycle', reason: 7 }] },
  ])
    for (const kind of ['Hypervisor', 'Eviction', 'VirtualMachine', 'DataVolume'] as const) {
      const row: KindRow = kindTable[kind];
      expect(row.shown?.({ ...object([]), status, spec: null }, 'act').attention).toBeNull();
    }
});
