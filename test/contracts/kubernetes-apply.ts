import type { AnyObject, ContractTest } from './kubernetes.ts';
import {
  condition,
  conflicting,
  eviction,
  evictions,
  migration,
  migrations,
  missing,
  refused,
  requestsOf,
} from './kubernetes.ts';

const started = '2026-01-01T00:00:00Z';

/** Who owns which field of the status. */
const ownersOf = ({ metadata: { managedFields = [] } }: AnyObject, field: string): string[] =>
  managedFields
    .filter(({ fieldsV1 }) => JSON.stringify(fieldsV1).includes(`"f:${field}"`))
    .map(({ manager }) => manager);

/** What kube-apiserver records of who wrote what, and server-side apply, which goes by it. */
export function describeFieldManagers(test: ContractTest): void {
  test('each writer owns what it wrote last, apart for object and status', async ({ name, kubernetes }) => {
    const { post, patch } = requestsOf(kubernetes);
    const made = await post(evictions(), eviction(name), { fieldManager: 'maker' });
    expect(made.metadata.managedFields).toMatchObject([
      {
        manager: 'maker',
        operation: 'Update',
        fieldsType: 'FieldsV1',
        fieldsV1: { 'f:spec': { '.': {}, 'f:hypervisor': {}, 'f:reason': {} } },
      },
    ]);
    const changed = await patch(evictions({ name }), { spec: { reason: 'another' } }, 'changer');
    expect([ownersOf(changed, 'hypervisor'), ownersOf(changed, 'reason')]).toEqual([['maker'], ['changer']]);
    const status = evictions({ name, subresource: 'status' });
    await patch(status, { status: { conditions: [condition()] } }, 'one');
    const written = await patch(
      status,
      { status: { conditions: [condition({ message: 'others' }), condition({ type: 'Other' })] } },
      'two',
    );
    const own = (manager: string): object | undefined =>
      written.metadata.managedFields?.find((entry) => entry.manager === manager && entry.subresource === 'status')
        ?.fieldsV1;
    expect(own('one')).toMatchObject({
      'f:status': { 'f:conditions': { 'k:{"type":"Evicting"}': { '.': {}, 'f:reason': {} } } },
    });
    expect(own('one')).not.toHaveProperty(['f:status', 'f:conditions', 'k:{"type":"Evicting"}', 'f:message']);
    expect(own('two')).toMatchObject({
      'f:status': {
        'f:conditions': { 'k:{"type":"Evicting"}': { 'f:message': {} }, 'k:{"type":"Other"}': { '.': {} } },
      },
    });
    const removed = await patch(status, { status: { conditions: [condition({ message: 'others' })] } }, 'three');
    expect(JSON.stringify(removed.metadata.managedFields)).not.toContain('Other');
  });

  test('a writer that does not say who it is goes by the name of its program', async ({ name, kubernetes }) => {
    const { post } = requestsOf(kubernetes);
    expect((await post(evictions(), eviction(name))).metadata.managedFields).toMatchObject([{ manager: 'drover' }]);
  });

  test('an apply makes the object, and again changes nothing', async ({ name, kubernetes }) => {
    const { apply } = requestsOf(kubernetes);
    const path = migrations(name, { name: 'm' });
    const made = await apply(path, migration(name, 'm', { labels: { a: '1' } }), 'drover');
    expect(made.metadata).toMatchObject({
      generation: 1,
      labels: { a: '1' },
      managedFields: [
        {
          manager: 'drover',
          operation: 'Apply',
          fieldsV1: { 'f:metadata': { 'f:labels': { 'f:a': {} } }, 'f:spec': {} },
        },
      ],
    });
    expect(await apply(path, migration(name, 'm', { labels: { a: '1' } }), 'drover')).toEqual(made);
  });

  test('what an apply names no more is taken away, unless another owns it', async ({ name, kubernetes }) => {
    const { apply, patch } = requestsOf(kubernetes);
    const path = migrations(name, { name: 'm' });
    await apply(path, migration(name, 'm', { labels: { a: '1', b: '1' } }), 'drover');
    await patch(path, { metadata: { labels: { c: '1' } } }, 'another');
    expect((await apply(path, migration(name, 'm', { labels: { b: '2' } }), 'drover')).metadata.labels).toEqual({
      b: '2',
      c: '1',
    });
    await apply(path, migration(name, 'm', { labels: { b: '2' } }), 'third');
    expect((await apply(path, migration(name, 'm'), 'drover')).metadata.labels).toEqual({ b: '2', c: '1' });
  });

  const status = (namespace: string, fields: object) => {
    const { spec: _, ...rest } = migration(namespace, 'm');
    return { ...rest, status: { started, ...fields } };
  };

  test('an apply of the status is refused where it would take a field from another', async ({ name, kubernetes }) => {
    const { apply, patch, get } = requestsOf(kubernetes);
    await apply(migrations(name, { name: 'm' }), migration(name, 'm'), 'drover');
    const path = migrations(name, { name: 'm', subresource: 'status' });
    const write = (fields: object, query = {}) => apply(path, status(name, fields), 'drover', query);
    const first = await write({ origin: 'o', memRemaining: '1 GiB' });
    expect(first.status).toEqual({ started, origin: 'o', memRemaining: '1 GiB' });
    expect(await write({ origin: 'o', memRemaining: '1 GiB' })).toEqual(first);

    await patch(path, { status: { memRemaining: '2 GiB', memIteration: 2 } }, 'agent');
    await expect(write({ memRemaining: '1 GiB' })).rejects.toMatchObject(
      conflicting(
        'Apply failed with 1 conflict: conflict with "agent" with subresource "status" using kvm.cloud.sap/v1alpha1: .status.memRemaining',
      ),
    );
    await expect(write({ memRemaining: '1 GiB', memIteration: 3 })).rejects.toMatchObject(
      conflicting('Apply failed with 2 conflicts: conflicts with "agent" with subresource "status"'),
    );
    // What both say alike is no conflict, and then belongs to both.
    const shared = await write({ memRemaining: '2 GiB' });
    expect(shared.status).toEqual({ started, memRemaining: '2 GiB', memIteration: 2 });
    expect(ownersOf(shared, 'memRemaining').toSorted()).toEqual(['agent', 'drover']);
    expect((await write({})).status).toEqual({ started, memRemaining: '2 GiB', memIteration: 2 });
    const forced = await write({ memIteration: 5 }, { force: true });
    expect([forced.status?.['memIteration'], ownersOf(forced, 'memIteration')]).toEqual([5, ['drover']]);
    await expect(apply(path, status(name, { started: '2025-01-01T00:00:00Z' }), 'third')).rejects.toMatchObject(
      conflicting('conflict with "drover" with subresource "status": .status.started'),
    );
    expect((await get(path)).status).toEqual(forced.status);
  });

  test('an apply that cannot be is refused', async ({ name, kubernetes }) => {
    const { apply } = requestsOf(kubernetes);
    const signal = new AbortController().signal;
    const path = migrations(name, { name: 'm' });
    await expect(
      kubernetes.request({ method: 'PATCH', patchType: 'apply', path, body: migration(name, 'm') }, signal),
    ).rejects.toMatchObject(refused('fieldManager: Required value: is required for apply patch'));
    await expect(
      apply(migrations(name, { name: 'm', subresource: 'status' }), status(name, {}), 'drover'),
    ).rejects.toMatchObject(missing());
    const nowhere = `${name}-nowhere`;
    await expect(apply(migrations(nowhere, { name: 'm' }), migration(nowhere, 'm'), 'drover')).rejects.toMatchObject(
      missing(`namespaces "${nowhere}" not found`),
    );
    await apply(path, migration(name, 'm'), 'drover');
    await expect(apply(path, migration(name, 'm', { resourceVersion: '1' }), 'drover')).rejects.toMatchObject(
      conflicting(),
    );
    await expect(
      apply(
        migrations(name, { name: 'm', subresource: 'status' }),
        status(name, { started: undefined, origin: 'o' }),
        'drover',
      ),
    ).rejects.toMatchObject(refused('status.started: Required value'));
  });
}
