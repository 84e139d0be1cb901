import { resourcePath } from '../../runtime/kubernetes/resource-path.ts';
import { labClock } from '../../lab/clock.ts';
import type { AnyObject, ContractTest, ObjectList } from './kubernetes.ts';
import {
  configMaps,
  conflicting,
  eviction,
  evictions,
  hypervisor,
  hypervisors,
  leases,
  missing,
  nodes,
  refusal,
  refused,
  requestsOf,
} from './kubernetes.ts';

interface Node extends AnyObject {
  spec: { taints?: { key: string; effect: string }[] };
}

/** Kinds that kube-apiserver has by itself, as far as drover and its tests use them. */
export function describeBuiltIn(test: ContractTest): void {
  const node = (name: string, more: object = {}) => ({ apiVersion: 'v1', kind: 'Node', metadata: { name }, ...more });

  test('a Node has a status of its own and taints that are one list', async ({ name, kubernetes }) => {
    const { post, patch } = requestsOf(kubernetes);
    const made = (await post(nodes(), node(name))) as Node;
    expect(made.metadata.generation).toBeUndefined();
    expect(made.spec.taints).toEqual([{ key: 'node.kubernetes.io/not-ready', effect: 'NoSchedule' }]);
    const status = {
      nodeInfo: { bootID: 'boot-1' },
      conditions: [{ type: 'Ready', status: 'True', lastTransitionTime: '2026-01-01T00:00:00Z' }],
      addresses: [{ type: 'InternalIP', address: '192.0.2.1' }],
    };
    expect((await patch(nodes({ name, subresource: 'status' }), { status })).status).toMatchObject(status);
    const tainted = (await patch(nodes({ name }), {
      spec: { taints: [{ key: 'k', value: 'v', effect: 'NoExecute' }] },
    })) as Node;
    expect([tainted.spec.taints, tainted.status]).toMatchObject([
      [{ key: 'k', value: 'v', effect: 'NoExecute' }],
      status,
    ]);
    expect((await patch(nodes({ name }), { spec: { taints: null } })).spec).toEqual({});
    await expect(patch(nodes({ name }), { spec: { taints: [{ key: 'k', effect: 'Never' }] } })).rejects.toMatchObject(
      refused(
        'metadata.taints[0].effect: Unsupported value: "Never": supported values: "NoSchedule", "PreferNoSchedule", "NoExecute"',
      ),
    );
  });

  test('a ConfigMap is replaced without a version too', async ({ name, kubernetes }) => {
    const { post, patch, put } = requestsOf(kubernetes);
    const body = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'mine' }, data: { a: 'b' } };
    await post(configMaps(name), body);
    expect(await patch(configMaps(name, { name: 'mine' }), { data: { a: null, c: 'd' } })).toMatchObject({
      data: { c: 'd' },
    });
    expect(await put(configMaps(name, { name: 'mine' }), { ...body, data: { e: 'f' } })).toMatchObject({
      data: { e: 'f' },
    });
    await expect(
      put(configMaps(name, { name: 'other' }), { ...body, metadata: { name: 'other' } }),
    ).rejects.toMatchObject(missing('configmaps "other" not found'));
  });

  test('a Lease is taken by a client that names its version, and made by a PUT', async ({ name, kubernetes }) => {
    const { post, put } = requestsOf(kubernetes);
    const lease = (holderIdentity: string, metadata: object = {}) => ({
      apiVersion: 'coordination.k8s.io/v1',
      kind: 'Lease',
      metadata: { namespace: name, name: 'mine', ...metadata },
      spec: { holderIdentity, leaseDurationSeconds: 8, leaseTransitions: 0, renewTime: '2026-01-01T00:00:00.123000Z' },
    });
    const path = leases(name, { name: 'mine' });
    const made = await post(leases(name), lease('a'));
    expect(made).toMatchObject(lease('a'));
    const { resourceVersion } = made.metadata;
    expect(await put(path, lease('b', { resourceVersion }))).toMatchObject({ spec: { holderIdentity: 'b' } });
    await expect(put(path, lease('c', { resourceVersion }))).rejects.toMatchObject(conflicting());
    await expect(put(path, lease('c'))).rejects.toMatchObject(
      refused(
        'leases.coordination.k8s.io "mine" is invalid: metadata.resourceVersion: Invalid value: 0: must be specified for an update',
      ),
    );
    expect(await put(leases(name, { name: 'new' }), lease('d', { name: 'new' }))).toMatchObject({
      spec: { holderIdentity: 'd' },
    });
  });

  const eventPath = resourcePath('events.k8s.io/v1', 'events', { namespace: 'default' });
  const event = (name: string, more: object = {}) => ({
    apiVersion: 'events.k8s.io/v1',
    kind: 'Event',
    metadata: { name, namespace: 'default' },
    regarding: { apiVersion: 'kvm.cloud.sap/v1', kind: 'Eviction', name: 'a', uid: 'u' },
    reportingController: 'drover',
    reportingInstance: 'drover',
    action: 'Evict',
    eventTime: '2026-01-01T00:00:00.123000Z',
    type: 'Normal',
    reason: 'Disabled',
    note: 'a sentence',
    ...more,
  });

  test('an Event is made once, with all that it needs', async ({ name, kubernetes }) => {
    const { post, get } = requestsOf(kubernetes);
    await post(eventPath, event(name));
    await expect(post(eventPath, event(name))).rejects.toMatchObject(
      refusal('ObjectConflict', 409, 'AlreadyExists', `events.events.k8s.io "${name}" already exists`),
    );
    const { items } = await get<ObjectList>(resourcePath('events.k8s.io/v1', 'events'), {
      fieldSelector: `metadata.name=${name}`,
    });
    expect(items).toMatchObject([{ regarding: { name: 'a', uid: 'u' }, reason: 'Disabled', note: 'a sentence' }]);
    const mistakes: [more: object, words: string][] = [
      [{ eventTime: undefined }, 'eventTime: Required value'],
      [{ action: '' }, 'action: Required value'],
      [{ reason: '' }, 'reason: Required value'],
      [{ reportingInstance: '' }, 'reportingInstance: Required value'],
      [{ type: 'Odd' }, 'type: Invalid value: "": has invalid value: Odd'],
      [{ note: 'x'.repeat(1_025) }, 'message: Invalid value: "": can have at most 1024 characters'],
      [{ reason: 'x'.repeat(129) }, 'reason: Invalid value: "": can have at most 128 characters'],
    ];
    for (const [more, words] of mistakes)
      await expect(post(eventPath, event(`${name}-b`, more))).rejects.toMatchObject(
        refused(`Event "${name}-b" is invalid: ${words}`),
      );
  });

  test('what has lost its last owner is deleted', async ({ name, kubernetes }) => {
    const { post, remove, get } = requestsOf(kubernetes);
    const owner = await post(hypervisors(), hypervisor(name));
    const other = await post(hypervisors(), hypervisor(`${name}-b`));
    const ref = ({ metadata: { name: owned, uid } }: AnyObject) => ({
      apiVersion: 'kvm.cloud.sap/v1',
      kind: 'Hypervisor',
      name: owned,
      uid,
    });
    await post(evictions(), eviction(name, { metadata: { ownerReferences: [ref(owner)] } }));
    await post(evictions(), eviction(`${name}-b`, { metadata: { ownerReferences: [ref(owner), ref(other)] } }));
    await remove(hypervisors({ name }));
    for (;;) {
      const { items } = await get<ObjectList>(evictions(), { fieldSelector: `metadata.name=${name}` });
      if (items.length === 0) break;
      await labClock().sleep(100);
    }
    expect((await get(evictions({ name: `${name}-b` }))).metadata.deletionTimestamp).toBeUndefined();
  });

  test('an owner counts where it is by its kind, its name and its uid, in the namespace or outside of all', async ({
    name,
    kubernetes,
  }) => {
    const { post, remove, get } = requestsOf(kubernetes);
    const elsewhere = `${name}-elsewhere`;
    const map = (of: string, ...ownerReferences: object[]) => ({
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: of, ...(ownerReferences.length > 0 && { ownerReferences }) },
    });
    const ref = ({ apiVersion, kind, metadata }: AnyObject, more: object = {}) => ({
      apiVersion,
      kind,
      name: metadata.name,
      uid: metadata.uid,
      ...more,
    });
    const isThere = async (of: string): Promise<boolean> => {
      const { items } = await get<ObjectList>(configMaps(name), { fieldSelector: `metadata.name=${of}` });
      return items.some(({ metadata }) => metadata.deletionTimestamp === undefined);
    };
    const untilGone = async (of: string): Promise<void> => {
      while (await isThere(of)) await labClock().sleep(100);
    };
    await post(resourcePath('v1', 'namespaces'), {
      apiVersion: 'v1',
      kind: 'Namespace',
      metadata: { name: elsewhere },
    });
    const stranger = await post(configMaps(elsewhere), map('stranger'));
    const owner = await post(configMaps(name), map('owner'));
    const cluster = await post(hypervisors(), hypervisor(name));
    await post(configMaps(name), map('owned', ref(owner)));
    await post(configMaps(name), map('of-both', ref(stranger), ref(owner)));
    await post(configMaps(name), map('of-the-cluster', ref(cluster)));
    await post(configMaps(name), map('of-a-stranger', ref(stranger)));
    await post(configMaps(name), map('of-another-name', ref(owner, { name: 'nobody' })));
    await post(configMaps(name), map('of-another-kind', ref(owner, { kind: 'Secret' })));
    await post(configMaps(name), map('of-an-earlier-one', ref(owner, { uid: '00000000-0000-4000-8000-000000000000' })));
    for (const gone of ['of-a-stranger', 'of-another-name', 'of-another-kind', 'of-an-earlier-one'])
      await untilGone(gone);
    const kept = ['owned', 'of-both', 'of-the-cluster', 'owner'];
    expect(await Promise.all(kept.map(isThere))).toEqual(kept.map(() => true));
    await remove(hypervisors({ name }));
    await untilGone('of-the-cluster');
    await remove(configMaps(name, { name: 'owner' }));
    await untilGone('of-both');
    await remove(resourcePath('v1', 'namespaces', { name: elsewhere }));
  });

  test('a namespace that is deleted takes what is in it with it, when that is let go, and takes in nothing new', async ({
    name,
    kubernetes,
  }) => {
    const { post, patch, remove, get } = requestsOf(kubernetes);
    const path = (of: { name?: string } = {}) => resourcePath('v1', 'configmaps', { namespace: `${name}-gone`, ...of });
    const map = (of: string, finalizers?: string[]) => ({
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: of, ...(finalizers !== undefined && { finalizers }) },
    });
    const namespace = resourcePath('v1', 'namespaces', { name: `${name}-gone` });
    await post(resourcePath('v1', 'namespaces'), {
      apiVersion: 'v1',
      kind: 'Namespace',
      metadata: { name: `${name}-gone` },
    });
    await post(path(), map('free'));
    await post(path(), map('held', ['drover.dev/test']));
    await remove(namespace);
    const isGone = (one: string): Promise<boolean> =>
      get(one).then(
        () => false,
        () => true,
      );
    while (!(await isGone(path({ name: 'free' })))) await labClock().sleep(100);
    expect((await get(namespace)).status).toMatchObject({ phase: 'Terminating' });
    for (;;) {
      const { metadata } = await get(path({ name: 'held' }));
      if (metadata.deletionTimestamp !== undefined) break;
      await labClock().sleep(100);
    }
    await expect(post(path(), map('late'))).rejects.toMatchObject({
      details: [expect.objectContaining({ httpStatus: 403, reason: 'Forbidden' })],
      message: expect.stringContaining(`unable to create new content in namespace ${name}-gone because it is being`),
    });
    await patch(path({ name: 'held' }), { metadata: { finalizers: null } });
    while (!(await isGone(namespace))) await labClock().sleep(100);
  });
}
