import type { VirtualMachineSetResourcePolicy } from '../../contracts/crds/virtual-machine-set-resource-policy.ts';
import { annotations, policyAnnotations } from '../../contracts/ids.ts';
import { virtualMachineAnnotations } from '../../contracts/virtual-machine/metadata.ts';
import { checkInvariants } from '../invariants.ts';
import { until } from './until.ts';
import type { VmWorld } from './virtual-machine-world.ts';
import { namespace, openVmWorld } from './virtual-machine-world.ts';
import { startTimeoutMs } from './vsphere-world.ts';
import { limitMs } from './world-base.ts';

/** VirtualMachineSetResourcePolicies, by drover's own worker and bridge; another client observes the result. */

let world: VmWorld;

beforeAll(async () => {
  world = await openVmWorld({
    settings: {
      modes: { Eviction: 'off', Hypervisor: 'off', VirtualMachine: 'act', VirtualMachineSetResourcePolicy: 'act' },
    },
  });
}, startTimeoutMs);
afterAll(() => world?.close(), limitMs);
afterEach(() => checkInvariants(world.observed), limitMs);

const kind = 'virtualmachinesetresourcepolicy';
const make = (name: string, spec: object, given: Record<string, string> = {}): Promise<string> =>
  world.make({
    apiVersion: 'vmoperator.vmware.com/v1alpha6',
    kind: 'VirtualMachineSetResourcePolicy',
    metadata: { namespace, name, annotations: given },
    spec,
  });
const change = (name: string, spec: object): Promise<string> =>
  world.kubectl('patch', kind, name, '-n', namespace, '--type=merge', '-p', JSON.stringify({ spec }));
const find = async (name: string): Promise<VirtualMachineSetResourcePolicy | null> => {
  const { items } = JSON.parse(await world.kubectl('get', kind, '-n', namespace, '-o', 'json')) as {
    items: VirtualMachineSetResourcePolicy[];
  };
  return items.find(({ metadata }) => metadata.name === name) ?? null;
};
const untilMade = async (name: string): Promise<VirtualMachineSetResourcePolicy> =>
  until(`policy ${name} to be made`, 40_000, async () => {
    const policy = await find(name);
    const { annotations: notes = {}, generation } = policy?.metadata ?? {};
    return policy !== null && notes[policyAnnotations.made] === String(generation)
      ? policy
      : `${notes[policyAnnotations.made] ?? 'nothing'} made; ${notes[policyAnnotations.waitsFor] ?? 'waits for nothing'}`;
  });
const untilGone = (name: string): Promise<unknown> =>
  until(`policy ${name} to be gone`, 40_000, async () =>
    (await find(name)) === null ? { gone: true } : 'still there',
  );
const untilWaits = (name: string, pattern: RegExp): Promise<unknown> =>
  until(`policy ${name} to say ${pattern.source}`, 40_000, async () => {
    const waitsFor = (await find(name))?.metadata.annotations?.[policyAnnotations.waitsFor] ?? 'nothing';
    return pattern.test(waitsFor) ? { waitsFor } : waitsFor;
  });

const there = async (kind: 'vm' | 'folder' | 'pool', name: string): Promise<string[]> =>
  (await world.vcenter.find(kind, '/')).filter((path) => path.endsWith(`/${name}`));
const folders = (name: string): Promise<string[]> => there('folder', name);
const pools = (name: string): Promise<string[]> => there('pool', name);
const modules = (): Promise<string[]> => world.vcenter.listModules();
const posts = async (method: string): Promise<number> =>
  (await world.control.requests()).filter((request) => request.method === method).length;

test(
  'folder, pool and modules are made once; a VM lies in them; they change with the policy, and go with it',
  async () => {
    await make('apart', {
      folder: 'apart',
      resourcePool: { name: 'gold', reservations: { memory: '64Mi' }, limits: { memory: '8Gi' } },
      clusterModuleGroups: ['web', 'db'],
    });
    const { status, metadata } = await untilMade('apart');
    expect(metadata.annotations?.[policyAnnotations.waitsFor]).toBeUndefined();
    expect(await folders('apart')).toHaveLength(1);
    const [pool = ''] = await pools('gold');
    expect(status?.resourcePools).toHaveLength(1);
    expect(status?.clustermodules?.map(({ groupName }) => groupName).toSorted()).toEqual(['db', 'web']);
    const listed = await modules();
    for (const { moduleUUID } of status?.clustermodules ?? []) expect(listed).toContain(moduleUUID);
    const memoryOf = async () => (await world.vcenter.describePool(pool)).memoryAllocation;
    expect(await memoryOf()).toMatchObject({ reservation: 64, expandableReservation: true, limit: 8_192 });

    await world.create(
      'member',
      { reserved: { resourcePolicyName: 'apart' } },
      { [virtualMachineAnnotations.clusterModuleGroup]: 'web' },
    );
    await world.untilReported('member', /^True Reconciled/u);
    expect(await there('vm', 'member')).toEqual([expect.stringMatching(/\/apart\/member$/u)]);
    const webModule = status?.clustermodules?.find(({ groupName }) => groupName === 'web')?.moduleUUID ?? '';
    expect(await world.vcenter.listModuleMembers(webModule)).toContain(
      (await world.read('member'))?.status?.uniqueID ?? 'no id',
    );

    await change('apart', { resourcePool: { name: 'gold', limits: { memory: '4Gi' } }, clusterModuleGroups: ['web'] });
    const changed = await untilMade('apart');
    expect(changed.status?.clustermodules?.map(({ moduleUUID }) => moduleUUID)).toEqual([webModule]);
    expect(await memoryOf()).toMatchObject({ reservation: 64, expandableReservation: true, limit: 4_096 });
    expect(await posts('POST /vcenter/cluster/modules')).toBe(2);

    await world.kubectl('delete', kind, 'apart', '-n', namespace, '--wait=false');
    await untilWaits('apart', /^member to be deleted: it names this policy/u);
    expect(await world.kubectl('get', 'events.events.k8s.io', '-n', namespace, '-o', 'json')).toContain(
      'Waiting for member to be deleted',
    );
    await world.remove('member');
    await untilGone('apart');
    expect([...(await folders('apart')), ...(await pools('gold'))]).toEqual([]);
    expect(await modules()).not.toContain(webModule);
  },
  limitMs,
);

test(
  'what another user has put into its folder stays, with the folder; what another policy names too stays',
  async () => {
    await make('first', { folder: 'theirs', resourcePool: { name: 'shared' } });
    await make('second', { resourcePool: { name: 'shared' } });
    await untilMade('first');
    await untilMade('second');
    const [folder = ''] = await folders('theirs');
    await world.vcenter.createFolder(`${folder}/inner`);
    await world.kubectl('delete', kind, 'first', '-n', namespace);
    expect([await folders('theirs'), await pools('shared')]).toEqual([[folder], [expect.stringContaining('shared')]]);
    await world.kubectl('delete', kind, 'second', '-n', namespace);
    expect(await pools('shared')).toEqual([]);
    await world.vcenter.destroy(folder);
  },
  limitMs,
);

test(
  'a policy in mode observe says what would be done, and nothing is done; in mode act, it is made',
  async () => {
    await make('observed', { folder: 'observed' }, { [annotations.mode]: 'observe' });
    await untilWaits('observed', /^drover only observes. It would: Make folder .*\/observed$/u);
    expect((await find('observed'))?.metadata.finalizers ?? []).toEqual([]);
    expect(await folders('observed')).toEqual([]);
    await world.kubectl('annotate', kind, 'observed', '-n', namespace, `${annotations.mode}-`);
    await untilMade('observed');
    expect(await folders('observed')).toHaveLength(1);
    await world.kubectl('delete', kind, 'observed', '-n', namespace);
    expect(await folders('observed')).toEqual([]);
  },
  limitMs,
);

test(
  'what vCenter refuses is said, and tried again; a lost answer makes no second folder and no second pool',
  async () => {
    await world.control.inject({ method: 'CreateFolder', after: true, does: 'cut' });
    await world.control.inject({ method: 'CreateResourcePool', after: true, does: 'cut' });
    await make('cut', { folder: 'cut', resourcePool: { name: 'cut' } });
    await untilMade('cut');
    await world.control.fail({ method: 'CreateFolder', fault: 'NoPermission' });
    await change('cut', { folder: 'refused' });
    await untilWaits('cut', /CreateFolder .* NoPermission/u);
    await untilMade('cut');
    expect(await folders('refused')).toHaveLength(1);
    await change('cut', { folder: 'cut' });
    await untilMade('cut');
    expect([await folders('cut'), await pools('cut')]).toEqual([[expect.any(String)], [expect.any(String)]]);
    await world.kubectl('delete', kind, 'cut', '-n', namespace);
    expect([await folders('cut'), await pools('cut')]).toEqual([[], []]);
  },
  limitMs,
);
