import { createMachineDrivers } from '../../activities/machines/drivers/drivers.ts';
import type { MachineDriver } from '../../contracts/machine-safety/driver.ts';
import type { CloudName } from '../../lab/openstack/handle.ts';
import { createInstance, listServers } from '../../lab/openstack/seed.ts';
import { labClock } from '../../lab/clock.ts';
import type { ContractTest, OpenStackCounterpart } from './openstack.ts';

const never = new AbortController().signal;
const marks = { 'kubernetes.io-cluster-shoot-1': '1', 'kubernetes.io-role-node': '1' };

/** The class with the credential of one of the lab's clouds. */
function driverOf(
  { settings, connect }: OpenStackCounterpart,
  { cloud = 'lab', region }: { cloud?: CloudName; region?: string } = {},
): MachineDriver {
  const { authUrl, credential, region: own, ca } = settings(cloud);
  const drivers = createMachineDrivers({
    openVcenter: () => {
      throw new Error('there is no vCenter');
    },
    openCloud: (given) => connect(given),
    clock: labClock(),
  });
  const named = (thing: object): Record<string, string> => Object.fromEntries(Object.entries(thing));
  const auth: Record<string, string> =
    credential.method === 'password'
      ? {
          username: named(credential.user)['name'] ?? '',
          password: credential.password,
          tenantName: named(credential.project)['name'] ?? '',
          domainName: 'Default',
        }
      : {
          ...('id' in credential && { applicationCredentialID: credential.id }),
          applicationCredentialSecret: credential.secret,
        };
  return drivers.open(
    {
      namespace: 'team',
      name: 'worker',
      provider: 'OpenStack',
      region: null,
      providerSpec: { spec: { region: region ?? own, tags: marks } },
    },
    { authURL: authUrl, ...(ca !== null && { caCert: ca }), ...auth },
  );
}

const failureOf = (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    () => 'no failure',
    (error: unknown) => error,
  );

const serverIds = async ({ admin }: OpenStackCounterpart): Promise<string[]> =>
  (await listServers(admin)).filter(({ status }) => status !== 'DELETED').map(({ id }) => id);

/** The driver of machines at OpenStack: which servers are a class’s, and how one is deleted. */
export function describeMachines(test: ContractTest): void {
  test('the servers of the project that have both marks are listed; all others are not', async (counterpart) => {
    const { admin } = counterpart;
    const made = await createInstance(admin, { name: 'worker-1', metadata: { ...marks, other: 'x' } });
    await createInstance(admin, { name: 'unmarked' });
    await createInstance(admin, { name: 'cluster-only', metadata: { 'kubernetes.io-cluster-shoot-1': '1' } });
    await createInstance(admin, {
      name: 'other-cluster',
      metadata: { 'kubernetes.io-cluster-shoot-2': '1', 'kubernetes.io-role-node': '1' },
    });
    for (const cloud of ['lab', 'lab-member'] as const)
      expect(await driverOf(counterpart, { cloud }).listMachines(never)).toEqual([
        { providerId: `openstack:///RegionOne/${made.id}`, machineName: 'worker-1', createdMs: expect.any(Number) },
      ]);
    const [listed] = counterpart
      .apiCalls('nova', 0)
      .filter(({ userAgent }) => userAgent !== 'drover-lab')
      .slice(-1);
    expect(listed).toMatchObject({ method: 'GET', path: '/v2.1/servers/detail', query: '' });
  });

  test('without servers the list is empty', async (counterpart) => {
    expect(await driverOf(counterpart).listMachines(never)).toEqual([]);
  });

  test('a server is deleted, and the call returns when it is gone; deleted again, it is gone', async (counterpart) => {
    const { id } = await createInstance(counterpart.admin, { name: 'worker-1', metadata: marks });
    const other = await createInstance(counterpart.admin, { name: 'worker-2', metadata: marks });
    const request = { providerId: `openstack:///RegionOne/${id}`, machineName: 'worker-1', detachForeignDisks: true };
    const driver = driverOf(counterpart);
    expect(await driver.deleteMachine(request, never)).toEqual({ outcome: 'deleted', detachedDisks: [] });
    expect(await serverIds(counterpart)).toEqual([other.id]);
    expect(await driver.deleteMachine(request, never)).toEqual({ outcome: 'gone', detachedDisks: [] });
  });

  test('a server that failed, and one that is off, are deleted', async (counterpart) => {
    for (const state of ['ERROR', 'SHUTOFF'] as const) {
      const { id } = await createInstance(counterpart.admin, { name: 'worker-1', metadata: marks, state });
      const request = { providerId: `openstack:///RegionOne/${id}`, machineName: 'worker-1', detachForeignDisks: true };
      expect(await driverOf(counterpart).deleteMachine(request, never)).toMatchObject({ outcome: 'deleted' });
    }
    expect(await serverIds(counterpart)).toEqual([]);
  });

  type Kept = [what: string, name: string, metadata: Record<string, string>];
  const kept: Kept[] = [
    ['another name', 'renamed', marks],
    ['no mark', 'worker-1', {}],
    ['another cluster’s mark', 'worker-1', { 'kubernetes.io-cluster-shoot-2': '1', 'kubernetes.io-role-node': '1' }],
    ['another cluster’s mark too', 'worker-1', { ...marks, 'kubernetes.io-cluster-shoot-2': '1' }],
  ];
  for (const [what, name, metadata] of kept)
    test(`a server with ${what} stays`, async (counterpart) => {
      const { id } = await createInstance(counterpart.admin, { name, metadata });
      const request = { providerId: `openstack:///RegionOne/${id}`, machineName: 'worker-1', detachForeignDisks: true };
      expect(await failureOf(driverOf(counterpart).deleteMachine(request, never))).toMatchObject({
        type: 'VirtualMachineNotOwned',
      });
      expect(await serverIds(counterpart)).toEqual([id]);
    });

  test('a foreign id, a region that is not there and a wrong password are failures', async (counterpart) => {
    const request = {
      providerId: 'vsphere://eu-1/4204cc2f-2f5c-bfb6-3d42-0c9e2f6a0b11',
      machineName: 'w',
      detachForeignDisks: true,
    };
    expect(await failureOf(driverOf(counterpart).deleteMachine(request, never))).toMatchObject({
      type: 'InvalidObject',
    });
    expect(await failureOf(driverOf(counterpart, { region: 'nowhere' }).listMachines(never))).toMatchObject({
      type: 'EndpointNotFound',
    });
    const { credential } = counterpart.settings('lab-member');
    const wrong = {
      ...counterpart,
      settings: () => ({
        ...counterpart.settings('lab-member'),
        credential: { ...credential, ...('password' in credential && { password: 'not-the-password' }) },
      }),
    };
    expect(await failureOf(driverOf(wrong).listMachines(never))).toMatchObject({ type: 'CredentialRefused' });
  });
}
