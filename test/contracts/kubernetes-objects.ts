import type { AnyObject, ContractTest } from './kubernetes.ts';
import {
  condition,
  conflicting,
  eviction,
  evictions,
  migration,
  migrations,
  missing,
  refusal,
  refused,
  requestsOf,
} from './kubernetes.ts';

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/u;

/** What kube-apiserver does with an object from its beginning to its end. */
export function describeObjects(test: ContractTest): void {
  test('an object that is made has identity, version and first generation', async ({ name, kubernetes }) => {
    const { get, post } = requestsOf(kubernetes);
    const made = await post(
      evictions(),
      eviction(name, { metadata: { labels: { a: 'b' }, generation: 7, uid: 'mine' }, status: { outstandingRamMb: 3 } }),
    );
    expect(made).toMatchObject({ metadata: { name, generation: 1, labels: { a: 'b' } }, spec: { hypervisor: 'host' } });
    expect(made.metadata.uid).toMatch(uuid);
    expect(made.metadata.creationTimestamp).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/u);
    expect(made.status).toBeUndefined();
    expect(await get(evictions({ name }))).toEqual(made);
  });

  test('a name is made where a prefix is given', async ({ name, kubernetes }) => {
    const { post } = requestsOf(kubernetes);
    const made = await post(evictions(), { ...eviction(''), metadata: { generateName: `${name}-` } });
    expect(made.metadata.name).toMatch(new RegExp(`^${name}-[a-z0-9]{5}$`, 'u'));
  });

  test('a name is taken once, also while its object is being deleted', async ({ name, kubernetes }) => {
    const { post, remove } = requestsOf(kubernetes);
    await post(evictions(), eviction(name, { metadata: { finalizers: ['drover.dev/eviction'] } }));
    await expect(post(evictions(), eviction(name))).rejects.toMatchObject(
      refusal('ObjectConflict', 409, 'AlreadyExists', `"${name}" already exists`),
    );
    await remove(evictions({ name }));
    await expect(post(evictions(), eviction(name))).rejects.toMatchObject(
      refusal('ObjectConflict', 409, 'AlreadyExists', 'object is being deleted'),
    );
  });

  test('an object that cannot be made is refused with the reason', async ({ name, kubernetes }) => {
    const { post } = requestsOf(kubernetes);
    const bad = 'BadRequest';
    await expect(post(evictions(), eviction('A_b'))).rejects.toMatchObject(
      refused('metadata.name: Invalid value: "A_b": a lowercase RFC 1123 subdomain must consist of'),
    );
    await expect(post(evictions(), { ...eviction(''), metadata: {} })).rejects.toMatchObject(
      refused('metadata.name: Required value: name or generateName is required'),
    );
    const labels = (of: object) => post(evictions(), eviction(name, { metadata: { labels: of } }));
    await expect(labels({ 'a b': 'c' })).rejects.toMatchObject(
      refused('metadata.labels: Invalid value: "a b": name part must consist of'),
    );
    await expect(labels({ a: 'c d' })).rejects.toMatchObject(
      refused('metadata.labels: Invalid value: "c d": a valid label must be'),
    );
    await expect(labels({ a: 'x'.repeat(64) })).rejects.toMatchObject(refused('must be no more than 63 bytes'));
    await expect(labels({ a: 1 })).rejects.toMatchObject(
      refusal(
        'ObjectRefused',
        400,
        bad,
        'cannot unmarshal number into Go struct field ObjectMeta.labels of type string',
      ),
    );
    await expect(
      post(evictions(), eviction(name, { metadata: { annotations: { a: 'c'.repeat(262_145) } } })),
    ).rejects.toMatchObject(refused('metadata.annotations: Too long'));
    await expect(post(evictions(), eviction(name, { metadata: { finalizers: ['x y/z'] } }))).rejects.toMatchObject(
      refused('metadata.finalizers: Invalid value: "x y/z"'),
    );
    await expect(post(evictions(), { metadata: { name } })).rejects.toMatchObject(
      refusal('ObjectRefused', 400, bad, "Object 'Kind' is missing"),
    );
    await expect(post(evictions(), { ...eviction(name), apiVersion: 'kvm.cloud.sap/v2' })).rejects.toMatchObject(
      refusal('ObjectRefused', 400, bad, 'does not match the expected API version (kvm.cloud.sap/v1)'),
    );
    await expect(post(evictions(), { ...eviction(name), kind: 'Hypervisor' })).rejects.toMatchObject(
      refused('kind: Invalid value: "Hypervisor": must be Eviction'),
    );
    await expect(post(evictions(), eviction(name, { metadata: { resourceVersion: '5' } }))).rejects.toMatchObject(
      refusal('KubernetesUnavailable', 500, '', 'resourceVersion should not be set'),
    );
    await expect(post(migrations(name), migration('other', name))).rejects.toMatchObject(
      refusal('ObjectRefused', 400, bad, 'the namespace of the provided object does not match'),
    );
  });

  test('what is not there says whether the object, its namespace or its kind is missing', async ({
    name,
    kubernetes,
  }) => {
    const { get, post, patch, remove } = requestsOf(kubernetes);
    const gone = missing(`evictions.kvm.cloud.sap "${name}" not found`);
    await expect(get(evictions({ name }))).rejects.toMatchObject(gone);
    await expect(patch(evictions({ name }), { spec: { reason: 'x' } })).rejects.toMatchObject(gone);
    await expect(remove(evictions({ name }))).rejects.toMatchObject(gone);
    const nowhere = `${name}-nowhere`;
    await expect(post(migrations(nowhere), migration(nowhere, name))).rejects.toMatchObject(
      missing(`namespaces "${nowhere}" not found`),
    );
    expect(await get(migrations(nowhere))).toMatchObject({ items: [] });
    for (const path of [
      '/apis/kvm.cloud.sap/v1/nothings',
      '/apis/kvm.cloud.sap/v9/evictions',
      '/api/v1/nothings/x',
      '/apis/nope.example.com/v1/things',
      `/apis/kvm.cloud.sap/v1/namespaces/${name}/evictions`,
    ]) {
      await expect(get(path)).rejects.toMatchObject({
        type: 'KubernetesUnavailable',
        details: [{ httpStatus: 404 }],
        message: expect.stringContaining('does not know this resource'),
      });
    }
  });

  test('a merge patch merges objects, replaces all else, and takes away what is null', async ({ name, kubernetes }) => {
    const { post, patch } = requestsOf(kubernetes);
    await post(
      evictions(),
      eviction(name, {
        metadata: { labels: { a: '1', b: '2' }, annotations: { c: '3' }, finalizers: ['drover.dev/a', 'drover.dev/b'] },
      }),
    );
    const change = {
      metadata: { labels: { a: null, d: '4' }, annotations: { c: null }, finalizers: ['drover.dev/b'] },
    };
    const { metadata } = await patch(evictions({ name }), change);
    expect(metadata).toMatchObject({ labels: { b: '2', d: '4' }, finalizers: ['drover.dev/b'] });
    expect(metadata.labels).not.toHaveProperty('a');
    expect(metadata).not.toHaveProperty('annotations');
  });

  test('the generation counts changes of the spec, and a change that changes nothing is none', async ({
    name,
    kubernetes,
  }) => {
    const { post, patch, put } = requestsOf(kubernetes);
    const made = await post(evictions(), eviction(name));
    const labelled = await patch(evictions({ name }), { metadata: { labels: { a: 'b' } } });
    expect(labelled.metadata.generation).toBe(1);
    expect(Number(labelled.metadata.resourceVersion)).toBeGreaterThan(Number(made.metadata.resourceVersion));
    expect(
      await patch(evictions({ name }), { metadata: { labels: { a: 'b' } }, spec: { reason: 'test' } }, 'another'),
    ).toEqual(labelled);
    expect(await put(evictions({ name }), labelled)).toEqual(labelled);
    const changed = await patch(evictions({ name }), { spec: { reason: 'another' } });
    expect(changed.metadata).toMatchObject({ generation: 2, uid: made.metadata.uid });
  });

  test('the status is written apart from the rest', async ({ name, kubernetes }) => {
    const { post, patch } = requestsOf(kubernetes);
    const made = await post(evictions(), eviction(name));
    const status = { outstandingRamMb: 4, conditions: [condition()] };
    expect(await patch(evictions({ name }), { status })).toEqual(made);
    const written = await patch(evictions({ name, subresource: 'status' }), {
      status,
      spec: { reason: 'no' },
      metadata: { labels: { no: 'no' } },
    });
    expect(written).toMatchObject({ status, spec: { reason: 'test' }, metadata: { generation: 1 } });
    expect(written.metadata.labels).toBeUndefined();
    expect((await patch(evictions({ name }), { spec: { reason: 'yes' } })).status).toEqual(status);
    expect((await patch(evictions({ name, subresource: 'status' }), { status: null })).status).toBeUndefined();
  });

  test('a write on another version, or on none, is refused before it is looked at', async ({ name, kubernetes }) => {
    const { post, patch } = requestsOf(kubernetes);
    const { metadata } = await post(evictions(), eviction(name));
    await patch(evictions({ name }), { metadata: { labels: { a: 'b' } } });
    const late = (more: object) =>
      patch(evictions({ name }), { metadata: { resourceVersion: metadata.resourceVersion }, ...more });
    await expect(late({})).rejects.toMatchObject(conflicting('the object has been modified'));
    await expect(late({ spec: { reason: '' } })).rejects.toMatchObject(conflicting());
    await expect(
      patch(evictions({ name, subresource: 'status' }), {
        metadata: { resourceVersion: metadata.resourceVersion },
        status: { outstandingRamMb: 1 },
      }),
    ).rejects.toMatchObject(conflicting());
    for (const resourceVersion of [null, '']) {
      await expect(patch(evictions({ name }), { metadata: { resourceVersion } })).rejects.toMatchObject(
        refused('metadata.resourceVersion: Invalid value: 0: must be specified for an update'),
      );
    }
    await expect(patch(evictions({ name }), { metadata: { resourceVersion: 'abc' } })).rejects.toMatchObject(
      refusal('KubernetesUnavailable', 500, ''),
    );
  });

  test('a patch cannot make another object of it', async ({ name, kubernetes }) => {
    const { post, patch } = requestsOf(kubernetes);
    const made = await post(evictions(), eviction(name));
    const change = (metadata: object) => patch(evictions({ name }), { metadata });
    await expect(change({ uid: 'other' })).rejects.toMatchObject(
      refused('metadata.uid: Invalid value: "other": field is immutable'),
    );
    await expect(change({ uid: 'other', resourceVersion: '1' })).rejects.toMatchObject(conflicting());
    await expect(change({ deletionTimestamp: '2026-01-01T00:00:00Z' })).rejects.toMatchObject(
      refused('metadata.deletionTimestamp'),
    );
    await expect(change({ name: 'other' })).rejects.toMatchObject(
      refusal('ObjectRefused', 400, 'BadRequest', 'does not match the name on the URL'),
    );
    await expect(patch(evictions({ name }), { kind: 'Other' })).rejects.toMatchObject(
      refused('kind: Invalid value: "Other": must be Eviction'),
    );
    expect(await change({ generation: 7, creationTimestamp: '2026-01-01T00:00:00Z' })).toEqual(made);
    await expect(
      kubernetes.request({ method: 'PATCH', path: evictions({ name }), body: {} }, new AbortController().signal),
    ).rejects.toMatchObject(refusal('ObjectRefused', 415, 'UnsupportedMediaType'));
  });

  test('a PUT replaces the object in the version that it names', async ({ name, kubernetes }) => {
    const { post, put, get } = requestsOf(kubernetes);
    const made = await post(evictions(), eviction(name, { metadata: { labels: { a: 'b' } } }));
    const body = (metadata: object, reason = 'put') => ({
      ...made,
      metadata: { ...made.metadata, labels: {}, ...metadata },
      spec: { hypervisor: 'host', reason },
    });
    const replaced = await put(evictions({ name }), body({}));
    expect(replaced).toMatchObject({ metadata: { generation: 2 }, spec: { reason: 'put' } });
    expect(replaced.metadata.labels).toBeUndefined();
    await expect(put(evictions({ name }), body({}, 'late'))).rejects.toMatchObject(
      conflicting('the object has been modified'),
    );
    await expect(put(evictions({ name }), body({ resourceVersion: undefined }))).rejects.toMatchObject(
      refused('must be specified for an update'),
    );
    await expect(
      put(evictions({ name }), body({ uid: 'other', resourceVersion: replaced.metadata.resourceVersion })),
    ).rejects.toMatchObject(conflicting('UID in precondition: other'));
    await expect(put(evictions({ name }), body({ name: 'other' }))).rejects.toMatchObject(
      refusal('ObjectRefused', 400, 'BadRequest', 'does not match the name on the URL'),
    );
    await expect(put(evictions({ name: `${name}-b` }), eviction(`${name}-b`))).rejects.toMatchObject(missing());
    expect(await get(evictions({ name }))).toEqual(replaced);
  });

  test('what has a finalizer stays until the last one is taken off', async ({ name, kubernetes }) => {
    const { post, patch, remove, get } = requestsOf(kubernetes);
    await post(evictions(), eviction(name, { metadata: { finalizers: ['drover.dev/a', 'drover.dev/b'] } }));
    const deleting = await remove(evictions({ name }));
    expect(deleting.metadata).toMatchObject({
      generation: 2,
      deletionTimestamp: expect.any(String),
      deletionGracePeriodSeconds: 0,
    });
    expect(await remove(evictions({ name }))).toEqual(deleting);
    expect(await get(evictions({ name }))).toEqual(deleting);
    await patch(evictions({ name }), { metadata: { finalizers: ['drover.dev/b'] } });
    const held = patch(evictions({ name }), { metadata: { finalizers: ['drover.dev/b', 'drover.dev/c'] } });
    await expect(held).rejects.toMatchObject(
      refused(
        'no new finalizers can be added if the object is being deleted, found new finalizers []string{"drover.dev/c"}',
      ),
    );
    expect((await patch(evictions({ name }), { spec: { reason: 'late' } })).metadata.generation).toBe(3);
    const last = await patch(evictions({ name }), { metadata: { finalizers: null }, spec: { reason: 'last' } });
    expect(last).toMatchObject({ spec: { reason: 'last' }, metadata: { generation: 4 } });
    expect(last.metadata.finalizers).toBeUndefined();
    await expect(get(evictions({ name }))).rejects.toMatchObject(missing());
  });

  test('a deletion can name which object, and which version of it, it is about', async ({ name, kubernetes }) => {
    const { post, remove } = requestsOf(kubernetes);
    const { metadata } = await post(evictions(), eviction(name));
    const about = (preconditions: object): Promise<AnyObject> =>
      remove(evictions({ name }), { apiVersion: 'v1', kind: 'DeleteOptions', preconditions });
    await expect(about({ uid: 'other' })).rejects.toMatchObject(
      conflicting(`the UID in the precondition (other) does not match the UID in record (${metadata.uid})`),
    );
    await expect(about({ resourceVersion: '1' })).rejects.toMatchObject(
      conflicting('the ResourceVersion in the precondition (1) does not match'),
    );
    expect(await about({ uid: metadata.uid, resourceVersion: metadata.resourceVersion })).toMatchObject({
      kind: 'Status',
      status: 'Success',
      details: { name, uid: metadata.uid, kind: 'evictions' },
    });
  });

  test('a collection is deleted with all that is in it', async ({ name, kubernetes }) => {
    const { post, remove, get } = requestsOf(kubernetes);
    await post(migrations(name), migration(name, 'a'));
    await post(migrations(name), migration(name, 'b', { finalizers: ['drover.dev/b'] }));
    await remove(migrations(name));
    expect(await get(migrations(name))).toMatchObject({
      items: [{ metadata: { name: 'b', deletionTimestamp: expect.any(String) } }],
    });
  });
}
