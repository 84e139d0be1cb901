import { notManagedAnnotation, nodeFinalizer } from '../../contracts/machine-safety/unmanaged-nodes.ts';
import type { AuditEntry } from '../../runtime/telemetry/audit.ts';
import { openObjects } from '../../runtime/kubernetes/objects.ts';
import { createFakeKubernetes } from '../../test/fakes/kubernetes/fake-kubernetes.ts';
import { testScope } from '../../test/fixtures/activities/nova.ts';
import { randomOf } from '../../test/faults/random.ts';
import { createVirtualClock } from '../../test/simulator/clock.ts';
import { createNetwork } from '../../test/simulator/network.ts';
import { createNodeActivities } from './annotate-nodes.ts';

const startMs = Date.UTC(2026, 0, 31);
const minute = 60_000;
const { signal } = new AbortController();

function open({ isActing = true, hasTarget = true } = {}) {
  const random = randomOf(1);
  const clock = createVirtualClock(startMs, random);
  const kubernetes = createFakeKubernetes({ clock, network: createNetwork({ clock, random }), random });
  const { admin } = kubernetes;
  const create = (path: string, body: object): Promise<unknown> =>
    admin.request({ method: 'POST', path, body }, signal);
  const audit: AuditEntry[] = [];
  const later = { ...clock, now: () => startMs + 30 * minute };
  const { annotateNodes } = createNodeActivities({
    client: openObjects(admin),
    target: hasTarget ? openObjects(admin) : null,
    namespaces: ['default'],
    isActing,
    creationTimeoutMs: 20 * minute,
    clock: later,
    audit: { record: async (entry) => void audit.push(entry) },
    stopGate: async () => undefined,
    scope: () => testScope(),
  });
  return {
    annotateNodes,
    audit,
    makeNode: (name: string, annotations = {}) =>
      create('/api/v1/nodes', {
        apiVersion: 'v1',
        kind: 'Node',
        metadata: { name, annotations, finalizers: [nodeFinalizer, 'others.example/one'] },
      }),
    makeMachine: (name: string, node: string) =>
      create('/apis/machine.sapcloud.io/v1alpha1/namespaces/default/machines', {
        apiVersion: 'machine.sapcloud.io/v1alpha1',
        kind: 'Machine',
        metadata: { name, namespace: 'default', labels: { node } },
      }),
    metadataOf: (name: string) =>
      kubernetes.object('nodes', { name })?.metadata as { annotations?: Record<string, string>; finalizers?: string[] },
  };
}

test('what no Machine has is marked and loses the finalizer, what one has is unmarked, and nothing is done twice', async () => {
  const { annotateNodes, audit, makeNode, makeMachine, metadataOf } = open();
  await makeNode('managed', { [notManagedAnnotation]: '1' });
  await makeNode('stray', { kept: 'yes' });
  await makeMachine('m-1', 'managed');
  expect(await annotateNodes()).toEqual({ marked: ['stray'], unmarked: ['managed'] });
  expect(metadataOf('stray')).toMatchObject({
    annotations: { kept: 'yes', [notManagedAnnotation]: '1' },
    finalizers: ['others.example/one'],
  });
  expect(metadataOf('managed').annotations ?? {}).toEqual({});
  expect(metadataOf('managed').finalizers).toHaveLength(2);
  expect(audit.map(({ action, object }) => [action, object])).toEqual([
    ['unmarkManagedNode', 'node/managed'],
    ['markUnmanagedNode', 'node/stray'],
  ]);
  expect(await annotateNodes()).toEqual({ marked: [], unmarked: [] });
});

test('without a Machine nothing is marked', async () => {
  const { annotateNodes, makeNode } = open();
  await makeNode('stray');
  expect(await annotateNodes()).toEqual({ marked: [], unmarked: [] });
});

test.each([{ isActing: false }, { hasTarget: false }])(
  'nothing is read where nothing may be written: %j',
  async (how) => {
    expect(await open(how).annotateNodes()).toBeNull();
  },
);
