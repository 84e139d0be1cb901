import { z } from 'zod';
import { toCustomResourceDefinition } from '../../contracts/crds/custom-resource-definition.ts';
import type { CrdBody } from '../../contracts/crds/definition.ts';
import { crdsOfKinds } from '../../contracts/crds/definitions.ts';
import { customResource } from '../../contracts/crds/schema.ts';
import type { KindRow } from '../../contracts/kinds/kind.ts';
import { apiVersionOf } from '../../contracts/kinds/object.ts';
import { kinds, kindTable } from '../../contracts/kinds/table.ts';
import type { Kubernetes } from '../../runtime/kubernetes/kubernetes.ts';
import { resourcePath } from '../../runtime/kubernetes/resource-path.ts';
import { createLogger } from '../../runtime/telemetry/logging.ts';
import { createFakeKubernetes, type FakeKubernetes } from '../fakes/kubernetes/fake-kubernetes.ts';
import { createSimulatedBridge } from './bridge.ts';
import { createSimulation } from './simulation.ts';
import { loadBundle } from './temporal/sdk.ts';
import type { WidgetActivities, WidgetName, WidgetQueue, WidgetWaits } from './toy/reconcile.ts';
import { bundleWidgets } from './toy/story.ts';
import { settings } from './toy/world.ts';

/**
 * A kind is added: its schema, its row, its run and its activities; and goes from kubectl through bridge and driver to
 * its status.
 */

const finalizer = 'drover.dev/widget';
const schema = customResource('toys.drover.dev/v1', 'Widget', {
  spec: z.object({ size: z.int() }),
  status: z
    .object({ state: z.string(), reason: z.string(), message: z.string(), observedGeneration: z.int() })
    .optional(),
});
type Widget = z.output<typeof schema>;
const crd: CrdBody = { description: 'A toy.', schema, printColumns: [] };
const row: KindRow<Widget> = {
  group: 'toys.drover.dev',
  version: 'v1',
  kind: 'Widget',
  plural: 'widgets',
  namespaced: true,
  mode: { default: 'off' },
  workflowType: 'reconcileWidget',
  workflowId: (subject) => `widget/${subject}`,
  input: ['namespace', 'name'],
  describe: (subject) => ({ summary: `Make widget ${subject}`, details: [] }),
  finalizer,
  predicate: { generation: true, finalizers: true },
  isReconciled: ({ metadata, status }) =>
    metadata.deletionTimestamp === undefined
      ? status?.state === 'Reconciled' && status.observedGeneration === metadata.generation
      : !(metadata.finalizers ?? []).includes(finalizer),
  dependsOn: () => [],
  access: [],
};
const apiVersion = apiVersionOf(row);
// Files share the tables with those that run after them in the same process.
beforeAll(() => {
  Object.assign(kindTable, { Widget: row });
  kinds.push('Widget' as never);
  Object.assign(crdsOfKinds, { Widget: crd });
});
afterAll(() => {
  Reflect.deleteProperty(kindTable, 'Widget');
  kinds.pop();
  Reflect.deleteProperty(crdsOfKinds, 'Widget');
});

const never = new AbortController().signal;
const path = ({ namespace, name }: WidgetName, subresource?: string): string =>
  resourcePath(apiVersion, row.plural, { namespace, name, ...(subresource !== undefined && { subresource }) });

/** The activities of the kind, over kube-apiserver; the widgets themselves are made of nothing. */
function createActivities(client: Kubernetes, object: (name: WidgetName) => Widget | null, nowMs: () => number) {
  const widgets = new Map<string, { size: number; curedMs: number }>();
  const patch = (at: string, body: object): Promise<unknown> =>
    client.request({ method: 'PATCH', patchType: 'merge', path: at, body }, never);
  const observeWidget = async (name: WidgetName): ReturnType<WidgetWaits['resizeWidget']> => {
    const found = object(name);
    const { uid = '', generation = 0, deletionTimestamp, finalizers = [] } = found?.metadata ?? {};
    const about = {
      uid,
      generation,
      deleting: deletionTimestamp !== undefined,
      isHeld: finalizers.includes(finalizer),
    };
    return {
      kind: 'observed',
      desired: found === null ? null : { ...about, size: found.spec.size },
      observed: { there: widgets.get(name.name) ?? null, status: found?.status ?? null },
      settings,
      digest: `${uid}/${generation}`,
      retry: null,
    };
  };
  const activities: WidgetActivities & WidgetQueue & WidgetWaits = {
    observeWidget,
    async changeWidget(name, change, size) {
      if (change === 'build') widgets.set(name.name, { size, curedMs: nowMs() + 5_000 });
      if (change === 'remove') widgets.delete(name.name);
      if (change === 'addFinalizer') await patch(path(name), { metadata: { finalizers: [finalizer] } });
      if (change === 'removeFinalizer') await patch(path(name), { metadata: { finalizers: [] } });
    },
    publishWidget: async (name, status) => void (await patch(path(name, 'status'), { status })),
    acquireSlot: async () => false,
    releaseSlot: async () => undefined,
    polishWidget: async () => 'polished',
    async resizeWidget(name, size) {
      widgets.set(name.name, { size, curedMs: 0 });
      return await observeWidget(name);
    },
    inspectWidget: async ({ name }) => widgets.get(name)?.size ?? 0,
  };
  return { widgets, activities };
}

test('a kind that is added goes from its object through bridge and driver to its status, and away again', async () => {
  const name = { namespace: 'team', name: 'wheel' };
  type Outside = ReturnType<typeof createActivities> & { kubernetes: FakeKubernetes };
  let outside: Outside | null = null;
  const simulation = createSimulation({
    bundle: await loadBundle(await bundleWidgets()),
    seed: 1,
    serve(running) {
      const kubernetes = outside?.kubernetes ?? createFakeKubernetes(running);
      const object = (key: WidgetName): Widget | null => kubernetes.object('widgets', key) as unknown as Widget | null;
      outside ??= { kubernetes, ...createActivities(kubernetes.client, object, () => running.clock.nowMs) };
      return [{ taskQueue: 'widgets', activities: outside.activities }];
    },
  });
  const { kubernetes, widgets } = outside as unknown as Outside;
  const { clock, random, client: temporal } = simulation;
  const { admin } = kubernetes;
  const run = (work: () => Promise<unknown>): Promise<unknown> => simulation.run(work(), 600_000);
  const post = (apiVersion: string, plural: string, body: object, namespace?: string): Promise<unknown> =>
    run(() =>
      admin.request(
        { method: 'POST', path: resourcePath(apiVersion, plural, namespace === undefined ? {} : { namespace }), body },
        never,
      ),
    );
  await post('apiextensions.k8s.io/v1', 'customresourcedefinitions', toCustomResourceDefinition({ ...row, ...crd }));
  await post('v1', 'namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'team' } });
  const bridge = createSimulatedBridge({
    clock,
    random,
    kubernetes: kubernetes.client,
    temporal,
    settings: () => ({ modes: { Widget: 'act' } as never }),
    log: createLogger({ level: 'error', component: 'test' }),
  });
  bridge.start();
  const state = () => {
    const { status, metadata } = kubernetes.object('widgets', name) as unknown as Widget;
    return `${status?.state} ${status?.observedGeneration} of ${metadata.generation}`;
  };

  const widget = { apiVersion, kind: 'Widget', metadata: name, spec: { size: 1 } };
  await post(apiVersion, row.plural, widget, 'team');
  await run(() => clock.sleep(60_000));
  expect([state(), widgets.get('wheel')?.size]).toEqual(['Reconciled 1 of 1', 1]);

  await run(() =>
    admin.request({ method: 'PATCH', patchType: 'merge', path: path(name), body: { spec: { size: 2 } } }, never),
  );
  await run(() => clock.sleep(60_000));
  expect([state(), widgets.get('wheel')?.size]).toEqual(['Reconciled 2 of 2', 2]);

  await run(() => admin.request({ method: 'DELETE', path: path(name) }, never));
  await run(() => clock.sleep(60_000));
  expect([kubernetes.object('widgets', name), widgets.size]).toEqual([null, 0]);

  expect(simulation.runs().map(({ workflowId, status }) => `${workflowId} ${status}`)).toEqual(
    Array.from({ length: 3 }, () => 'widget/team/wheel COMPLETED'),
  );
  expect(simulation.runs()[0]?.attributes).toMatchObject({ DroverKind: 'Widget', DroverObject: 'team/wheel' });
  bridge.kill();
  simulation.close();
});
