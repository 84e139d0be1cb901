import type { WatchedFields } from '../contracts/kinds/kind.ts';
import { findCauses, readFacts } from './facts.ts';
import type { KubeObject } from './kube-object.ts';
import { isReconciled, type Route, routesFor } from './routes.ts';

const [route] = routesFor({ copiedLabels: [], imageCacheNamespace: null, groups: false }) as [Route];

const base = {
  apiVersion: 'kvm.cloud.sap/v1',
  kind: 'Eviction',
  metadata: {
    name: 'evict-1',
    uid: 'u1',
    resourceVersion: '5',
    generation: 1,
    creationTimestamp: '2026-01-01T00:00:00Z',
  },
  spec: { hypervisor: 'node-1', reason: 'test' },
};
const eviction = (metadata: Partial<KubeObject['metadata']> = {}, status?: object): KubeObject => ({
  ...base,
  metadata: { ...base.metadata, ...metadata },
  ...(status && { status }),
});
const condition = (type: string, status: string, reason: string, observedGeneration?: number) => ({
  type,
  status,
  reason,
  message: '',
  lastTransitionTime: '2026-01-01T00:00:00Z',
  ...(observedGeneration !== undefined && { observedGeneration }),
});
const facts = (object: KubeObject) => readFacts(route, object, 'act');

test('what is read of an Eviction', () => {
  const object = eviction(
    { finalizers: ['drover.dev/eviction'], annotations: { 'drover.dev/retry': 'x' } },
    { conditions: [condition('Evicting', 'True', 'Running', 1)] },
  );
  expect(facts(object)).toMatchObject({
    name: 'evict-1',
    namespace: null,
    uid: 'u1',
    generation: 1,
    subject: 'node-1',
    deleting: false,
    retry: 'x',
    retryPending: true,
    reconciled: false,
    reportedGeneration: 1,
  });
});

test.each([
  ['a spec without hypervisor', { spec: { reason: 'x' } }],
  ['no spec', { spec: undefined }],
  ['an empty hypervisor', { spec: { hypervisor: '', reason: 'x' } }],
  ['conditions that are no list', { status: { conditions: 'odd' } }],
  [
    'a condition of other types',
    {
      metadata: { ...base.metadata, creationTimestamp: 'long ago' },
      status: { conditions: [{ type: 'Evicting', lastTransitionTime: { toString: null }, reason: 7 }] },
    },
  ],
  ['conditions that are none', { status: { conditions: [null, 'odd', 7] } }],
])('odd objects are read without throwing, and are not reconciled: %s', (_why, odd) => {
  expect(facts({ ...base, ...odd })).toMatchObject({ reconciled: false, reportedGeneration: null });
});

const succeeded = { conditions: [condition('Evicting', 'False', 'Succeeded', 1)] };
const notes = (given: Record<string, string>) => ({ annotations: given });

const rows: [why: string, before: KubeObject | null, after: KubeObject, causes: string[]][] = [
  ['a new object', null, eviction(), ['spec']],
  ['a new object that is being deleted already', null, eviction({ deletionTimestamp: 't' }), ['deleted']],
  ['nothing but the resourceVersion', eviction(), eviction({ resourceVersion: '6' }), []],
  ['the spec', eviction(), eviction({ generation: 2 }), ['spec']],
  [
    'deletion, which moves the generation too',
    eviction(),
    eviction({ generation: 2, deletionTimestamp: 't' }),
    ['deleted'],
  ],
  ['drover’s own status', eviction(), eviction({}, succeeded), []],
  ['drover’s own finalizer', eviction(), eviction({ finalizers: ['drover.dev/eviction'] }), []],
  ['another controller’s finalizer', eviction(), eviction({ finalizers: ['example.com/x'] }), ['finalizers']],
  ['the order of finalizers', eviction({ finalizers: ['a', 'b'] }), eviction({ finalizers: ['b', 'a'] }), []],
  ['an annotation of drover', eviction(), eviction(notes({ 'drover.dev/deadline': 'x' })), ['annotations']],
  ['one that goes', eviction(notes({ 'drover.dev/deadline': 'x' })), eviction(), ['annotations']],
  ['another client’s annotation', eviction(), eviction(notes({ 'example.com/x': 'y' })), []],
  [
    'what drover itself notes',
    eviction(),
    eviction(notes({ 'drover.dev/retry-handled': 'a', 'drover.dev/boot-id': 'b' })),
    [],
  ],
  ['a retry', eviction(), eviction(notes({ 'drover.dev/retry': 'a' })), ['retry']],
  [
    'another retry',
    eviction(notes({ 'drover.dev/retry': 'a' })),
    eviction(notes({ 'drover.dev/retry': 'b' })),
    ['retry'],
  ],
  ['a retry that is taken back', eviction(notes({ 'drover.dev/retry': 'a' })), eviction(), []],
  ['a label that is not watched', eviction(), eviction({ labels: { a: 'b' } }), []],
  [
    'several at once',
    eviction(),
    eviction({ generation: 2, ...notes({ 'drover.dev/retry': 'a', 'drover.dev/consent': 'b' }) }),
    ['spec', 'retry', 'annotations'],
  ],
];

test.each(rows)('changes: %s', (_why, before, after, causes) => {
  expect(findCauses(before && facts(before), facts(after))).toEqual(causes);
});

test('labels and fields matter where a route watches them, but for fields that drover has written', () => {
  const agentOf = ({ status }: { status?: unknown }) => (status ?? {}) as { agent?: string; own?: boolean };
  const watching: Route = {
    ...route,
    row: {
      ...route.row,
      predicate: {
        label: (key) => key.startsWith('zone/'),
        fields: (object): WatchedFields =>
          agentOf(object).agent === undefined
            ? {}
            : { 'status.agent': { value: agentOf(object).agent!, own: agentOf(object).own ?? false } },
      },
    },
  };
  const causes = (before: object, after: object, metadata = {}) =>
    findCauses(readFacts(watching, eviction({}, before), 'act'), readFacts(watching, eviction(metadata, after), 'act'));
  expect(causes({}, { agent: 'up', conditions: [] }, { labels: { 'zone/a': 'b' } })).toEqual(['labels', 'status']);
  expect(causes({ agent: 'up' }, { agent: 'up', ...succeeded })).toEqual([]);
  expect(causes({ agent: 'up' }, { agent: 'down', own: true })).toEqual([]);
  expect(causes({ agent: 'up', own: true }, { agent: 'down' })).toEqual(['status']);
  expect(causes({ agent: 'up', own: true }, {})).toEqual([]);
  expect(causes({ agent: 'up' }, {})).toEqual(['status']);
});

const awaiting = {
  conditions: [
    condition('Evicting', 'False', 'Succeeded', 1),
    condition('HypervisorReEnabled', 'Unknown', 'WaitingForNode', 1),
  ],
};
test.each([
  ['one without a condition', eviction(), 'act', ['Evicting']],
  ['one that runs', eviction({}, { conditions: [condition('Evicting', 'True', 'Running', 1)] }), 'act', ['Evicting']],
  ['one of an earlier generation', eviction({ generation: 2 }, succeeded), 'act', ['Evicting']],
  ['one that only waited for its node', eviction({}, awaiting), 'act', ['HypervisorReEnabled']],
  ['one that is only observed', eviction(), 'observe', ['Observed']],
  ['one whose annotation says observe', eviction(notes({ 'drover.dev/mode': 'observe' })), 'act', ['Observed']],
  [
    'one that was begun in earnest and is to be observed now',
    eviction(
      { finalizers: ['drover.dev/eviction'], ...notes({ 'drover.dev/mode': 'observe' }) },
      { conditions: [condition('Evicting', 'True', 'Running', 1)] },
    ),
    'act',
    ['Evicting'],
  ],
] as const)('stopped: %s says so, and is reconciled then', (_why, object, mode, types) => {
  const updates = route.row.stopped!(object, mode, 'a user stopped it');
  expect(updates.map(({ type }) => type)).toEqual(types);
  const before = (object['status'] as { conditions?: { type: string }[] } | undefined)?.conditions ?? [];
  const conditions = [
    ...before.filter(({ type }) => !updates.some((update) => update.type === type)),
    ...updates.map((update) => ({ ...update, lastTransitionTime: '2026-01-02T00:00:00Z' })),
  ];
  expect(isReconciled(route, { ...object, status: { conditions } }, mode)).toBe(true);
});
