import type { ContractTest, ObjectList, Requests } from './kubernetes.ts';
import { configMaps, evictions, migration, migrations, nodes, refusal, requestsOf } from './kubernetes.ts';

const badRequest = (words: string): object => refusal('ObjectRefused', 400, 'BadRequest', words);

const makeAll = async ({ post }: Requests, namespace: string, names: readonly string[]): Promise<void> => {
  for (const name of names) await post(migrations(namespace), migration(namespace, name, { labels: { name } }));
};

const namesOf = ({ items }: ObjectList): string[] => items.map(({ metadata }) => metadata.name);

/** Collections: their order, pages and selections. */
export function describeLists(test: ContractTest): void {
  test('a collection is in the order of its names, and says in which version it is', async ({ name, kubernetes }) => {
    const requests = requestsOf(kubernetes);
    const empty = await requests.get<ObjectList>(migrations(name));
    expect(empty).toMatchObject({ apiVersion: 'kvm.cloud.sap/v1alpha1', kind: 'MigrationList', items: [] });
    await makeAll(requests, name, ['c', 'a', 'b']);
    const all = await requests.get<ObjectList>(migrations(name));
    expect(namesOf(all)).toEqual(['a', 'b', 'c']);
    expect(all.items[0]).toEqual(await requests.get(migrations(name, { name: 'a' })));
    expect(Number(all.metadata.resourceVersion)).toBeGreaterThan(Number(empty.metadata.resourceVersion));
  });

  test('items of what is built in do not say what they are', async ({ name, kubernetes }) => {
    const { post, get } = requestsOf(kubernetes);
    await post(configMaps(name), { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'mine' } });
    const { items } = await get<ObjectList>(configMaps(name), { fieldSelector: 'metadata.name=mine' });
    expect(items).toMatchObject([{ metadata: { name: 'mine' } }]);
    expect(items[0]).not.toHaveProperty('kind');
  });

  test('pages of a collection are all of one version', async ({ name, kubernetes }) => {
    const requests = requestsOf(kubernetes);
    await makeAll(requests, name, ['a', 'b', 'c', 'd', 'e']);
    const first = await requests.get<ObjectList>(migrations(name), { limit: 2 });
    expect([namesOf(first), first.metadata.remainingItemCount]).toEqual([['a', 'b'], 3]);
    await requests.remove(migrations(name, { name: 'c' }));
    await makeAll(requests, name, ['f']);
    const second = await requests.get<ObjectList>(migrations(name), { limit: 2, continue: first.metadata.continue });
    expect([namesOf(second), second.metadata.resourceVersion]).toEqual([['c', 'd'], first.metadata.resourceVersion]);
    const third = await requests.get<ObjectList>(migrations(name), { limit: 2, continue: second.metadata.continue });
    expect([namesOf(third), third.metadata.continue || undefined]).toEqual([['e'], undefined]);
    const asItWas = await requests.get<ObjectList>(migrations(name), {
      resourceVersion: first.metadata.resourceVersion,
      resourceVersionMatch: 'Exact',
    });
    expect(namesOf(asItWas)).toEqual(['a', 'b', 'c', 'd', 'e']);
    await expect(requests.get(migrations(name), { limit: 2, continue: 'xx' })).rejects.toMatchObject(
      badRequest('invalid continue token'),
    );
  });

  const selections: [selector: string, names: string[]][] = [
    ['name=b', ['b']],
    ['name==b', ['b']],
    ['name!=b', ['a', 'c']],
    ['name in (a, b)', ['a', 'b']],
    ['name notin (a,b)', ['c']],
    ['name', ['a', 'b', 'c']],
    ['!name', []],
    ['name!=a,name!=c', ['b']],
  ];
  test('labels select', async ({ name, kubernetes }) => {
    const requests = requestsOf(kubernetes);
    await makeAll(requests, name, ['a', 'b', 'c']);
    for (const [labelSelector, names] of selections)
      expect([labelSelector, namesOf(await requests.get<ObjectList>(migrations(name), { labelSelector }))]).toEqual([
        labelSelector,
        names,
      ]);
    const page = await requests.get<ObjectList>(migrations(name), { labelSelector: 'name', limit: 1 });
    expect(page.metadata).toMatchObject({ continue: expect.stringMatching(/./u) });
    expect(page.metadata.remainingItemCount).toBeUndefined();
    await expect(requests.get(migrations(name), { labelSelector: 'a b c' })).rejects.toMatchObject(
      badRequest('unable to parse requirement'),
    );
  });

  test('fields select, where the kind has them for that', async ({ name, kubernetes }) => {
    const requests = requestsOf(kubernetes);
    await makeAll(requests, name, ['a', 'b']);
    expect(namesOf(await requests.get<ObjectList>(migrations(name), { fieldSelector: 'metadata.name=b' }))).toEqual([
      'b',
    ]);
    expect(
      namesOf(
        await requests.get<ObjectList>('/apis/kvm.cloud.sap/v1alpha1/migrations', {
          fieldSelector: `metadata.namespace=${name},metadata.name!=b`,
        }),
      ),
    ).toEqual(['a']);
    await expect(requests.get(evictions(), { fieldSelector: 'spec.hypervisor=host' })).rejects.toMatchObject(
      badRequest('field label not supported: spec.hypervisor'),
    );
    await expect(requests.get(nodes(), { fieldSelector: 'status.x=1' })).rejects.toMatchObject(
      badRequest('field label not supported: status.x'),
    );
  });

  test('a version that has not been, or is none, is refused', async ({ name, kubernetes }) => {
    const { get } = requestsOf(kubernetes);
    await expect(get(migrations(name), { resourceVersion: 'abc' })).rejects.toMatchObject(
      badRequest('invalid resource version'),
    );
    await expect(get(migrations(name), { resourceVersion: '999999999' })).rejects.toMatchObject({
      type: 'KubernetesUnavailable',
      details: [{ httpStatus: 504, reason: 'Timeout', retryAfterMs: 1_000 }],
      message: expect.stringContaining('Too large resource version'),
    });
    expect(await get(migrations(name), { resourceVersion: '0' })).toMatchObject({ items: [] });
  });
}
