import { agentVmKeys } from '../../contracts/agent-pool/metadata.ts';
import { vmIdentityOf } from '../../contracts/agent-pool/vm-identity.ts';
import { vsphereAgentPoolSchema, type VsphereAgentPool } from '../../contracts/crds/vsphere-agent-pool.ts';
import {
  attachAgentTags,
  createAgentVm,
  describeAgentVm,
  ejectAgentIso,
  findAgentVm,
  powerOnAgentVm,
  type VmOfPool,
  type VmTools,
} from '../../activities/agents/vcenter/agent-vm.ts';
import { ownerOf } from '../../activities/agents/vcenter/agent-vm-spec.ts';
import { destroyVm } from '../../activities/agents/vcenter/destroy-vm.ts';
import {
  destroyMarkedVm,
  findUsedIsos,
  listMarkedVms,
  readFreeSpace,
} from '../../activities/agents/vcenter/marked-vms.ts';
import { openPoolVcenters, type PoolVcenters } from '../../activities/agents/vcenter/pool-vcenters.ts';
import { inventory } from '../../lab/vsphere/handle.ts';
import { stubClient } from '../fixtures/activities/nova.ts';
import { failureOf, never, openSuite, uidOf, type VsphereCounterpart } from './vsphere-context.ts';

const isoDatastore = 'LocalDS_0';
const isoPath = 'agent-forge/installer.iso';
const folder = `${inventory.vmFolder}/agents/pool-a`;

/** The VMs of VsphereAgents: made in a datastore cluster, found by their mark, and destroyed. */
export function vsphereAgentsContract(open: () => Promise<VsphereCounterpart>): void {
  let vcenters: PoolVcenters;
  let tag = '';
  const { context, test, each } = openSuite(open, async (opened) => {
    const { witness } = opened;
    await witness.makeDirectory({ datastore: isoDatastore, path: 'agent-forge' });
    await witness.createDisk({ datastore: isoDatastore, path: 'agent-forge/disk.vmdk', sizeMiB: 1 });
    await witness.copyFile({ datastore: isoDatastore, path: 'agent-forge/disk.vmdk' }, isoPath);
    tag = await witness.createTag('agents');
    const settings = opened.settings();
    const { username, password } = await settings.credential(never);
    const encoded = (text: string): string => Buffer.from(text).toString('base64');
    vcenters = openPoolVcenters({
      client: stubClient({
        get: (() =>
          Promise.resolve({
            data: {
              server: encoded(`${settings.url}/sdk\n`),
              username: encoded(username),
              password: encoded(password),
              insecure: encoded('true'),
            },
          })) as never,
      }),
      vcenters: [settings],
      systemNamespace: 'drover-system',
      openVcenter: () => opened.connect(),
      openRest: () => opened.rest,
      clock: opened.clock,
    });
  });
  afterEach(async () => {
    for (const path of await context.witness.find('vm', inventory.vmFolder))
      if (path.startsWith(`${folder}/`)) await context.witness.destroyVm(path);
    await context.witness.setStorageDrs(true);
  });

  const pool = (vsphere: object = {}, template: object = {}): VsphereAgentPool =>
    vsphereAgentPoolSchema.parse({
      apiVersion: 'agent-forge.containeroo.ch/v1alpha1',
      kind: 'VsphereAgentPool',
      metadata: {
        namespace: 'team',
        name: 'pool-a',
        uid: 'u-1',
        generation: 1,
        resourceVersion: '1',
        creationTimestamp: '2026-01-01T00:00:00Z',
      },
      spec: {
        agent: { labels: { a: 'b' } },
        controlPlaneNamespace: 'team-hc',
        hostedClusterRef: { name: 'hc' },
        infraEnvRef: { name: 'env' },
        nodePoolRef: { name: 'np' },
        template: { diskGiB: 20, memoryMiB: 1_024, numCPUs: 2, ...template },
        vsphere: {
          credentialsSecretRef: { name: 'vcenter' },
          datacenter: inventory.datacenter,
          datastoreCluster: 'DC0_POD0',
          isoDatastore,
          network: 'DC0_DVPG0',
          resourcePool: 'DC0_C0/Resources',
          folder: 'agents/pool-a',
          ...vsphere,
        },
      },
    });
  const of = (name: string, of_: VsphereAgentPool = pool()): VmOfPool & { iso: string; cluster: string } => ({
    pool: of_,
    agent: { namespace: 'team', name, uid: uidOf(name) },
    vmName: name,
    cause: 'the test',
    iso: isoPath,
    cluster: 'east',
  });
  const use = <Result>(work: (tools: VmTools) => Promise<Result>): Promise<Result> =>
    vcenters.use(pool(), never, (vcenter) =>
      work({
        vcenter,
        stopGate: () => Promise.resolve(),
        audit: { record: (entry) => Promise.resolve(void context.audit.push(entry)) },
        clock: context.clock,
        scope: {
          signal: never,
          deadlineMs: Infinity,
          heartbeatDetails: undefined,
          run: null,
          heartbeat: () => undefined,
          scheduledMs: 0,
          waitedMs: 0,
          warn: () => undefined,
        },
      }),
    );
  const make = (name: string, of_ = pool()) => use((tools) => createAgentVm(tools, of(name, of_)));
  const find = (name: string) => use((tools) => findAgentVm(tools, of(name)));
  const destroy = (name: string) =>
    use((tools) =>
      destroyVm(tools, () => findAgentVm(tools, of(name)), { owner: ownerOf(of(name).agent), cause: 'the test' }),
    );
  const at = (name: string): string => `${folder}/${name}`;
  const seen = async (name: string) => {
    const vm = await context.witness.describeVm(at(name));
    if (vm === null) throw new Error(`no ${at(name)}`);
    return vm;
  };

  test('a VM is made in the datastore cluster, with both UUIDs, its mark and the ISO; made again, it is the same', async () => {
    const made = await make('agent-1', pool({ firmware: 'efi', scsiType: 'lsilogic-sas' }));
    const { config, id } = await seen('agent-1');
    expect(id).toBe(made.id);
    const { instanceUuid, biosUuid } = vmIdentityOf(uidOf('agent-1'));
    expect([config.instanceUuid, config.uuid, config.firmware]).toEqual([instanceUuid, biosUuid, 'efi']);
    expect(config.hardware).toMatchObject({ numCPU: 2, memoryMB: 1_024 });
    expect(Object.fromEntries(config.extraConfig.map(({ key, value }) => [key, value]))).toMatchObject({
      [agentVmKeys.agent]: 'team/agent-1',
      [agentVmKeys.agentUid]: uidOf('agent-1'),
      [agentVmKeys.pool]: 'team/pool-a',
      [agentVmKeys.cluster]: 'east',
      'disk.EnableUUID': 'TRUE',
    });
    const datastores = inventory.podDatastores.map((name) => `[${name}] `);
    expect(datastores.some((start) => config.files.vmPathName.startsWith(start))).toBe(true);
    const disk = config.hardware.device.find(({ capacityInKB }) => capacityInKB !== undefined);
    expect(disk?.capacityInKB).toBe(20 * 1_024 ** 2);
    expect(datastores.some((start) => disk?.backing?.fileName?.startsWith(start))).toBe(true);
    expect(await use((tools) => describeAgentVm(tools, made, pool()))).toEqual({
      vmId: id,
      name: 'agent-1',
      biosUUID: biosUuid,
      macAddress: expect.stringMatching(/^([0-9a-f]{2}-){5}[0-9a-f]{2}$/u),
      isOn: false,
      iso: `[${isoDatastore}] ${isoPath}`,
      missingTags: [],
    });
    expect((await make('agent-1')).id).toBe(id);
    expect(context.audit.filter(({ action }) => action === 'submitNewVm')).toMatchObject([
      { object: 'agent/team/agent-1', cause: 'the test' },
    ]);
  });

  test('many at once are as many VMs, in one folder', async () => {
    const names = ['many-1', 'many-2', 'many-3', 'many-4', 'many-5'];
    const all = async () => (await Promise.all(names.map((name) => make(name)))).map(({ id }) => id);
    const ids = await all();
    expect(new Set(ids).size).toBe(names.length);
    expect(await all()).toEqual(ids);
    expect((await context.witness.find('vm', folder)).toSorted()).toEqual(names.map(at));
  });

  test('an attempt while another one is in flight leaves one VM', async () => {
    await make('before');
    await context.control.delayTasks({ CreateVm: 700 });
    await context.control.inject({ method: 'CreateVM_Task', does: 'cut', after: true });
    expect(await failureOf(make('twice'))).toMatchObject({ type: 'VsphereUnavailable' });
    const { id } = await make('twice');
    expect(id).toBe((await seen('twice')).id);
    expect((await context.witness.find('vm', folder)).toSorted()).toEqual([at('before'), at('twice')]);
  });

  test('where Storage DRS is off, the datastore with the most free space is taken', async () => {
    await context.witness.setStorageDrs(false);
    await context.control.clearRequests();
    await make('no-drs');
    expect(await context.requests('RecommendDatastores')).toEqual([]);
    expect((await seen('no-drs')).config.files.vmPathName).toMatch(/^\[LocalDS_[23]\] /u);
  });

  each<[string, object]>([
    ['datastoreCluster', { datastoreCluster: 'nowhere' }],
    ['datastoreCluster', { datastoreCluster: 'LocalDS_0' }],
    ['network', { network: 'nowhere' }],
    ['resourcePool', { resourcePool: 'nowhere' }],
    ['resourcePool', { resourcePool: 'DC0_C0/nowhere' }],
    ['datacenter', { datacenter: 'DC9' }],
  ])('a %s that is not there is said, and nothing is made', async (field, vsphere) => {
    expect(await failureOf(make('nowhere', pool(vsphere)))).toMatchObject({
      type: 'VsphereObjectNotFound',
      message: expect.stringContaining(`spec.vsphere.${field}`),
    });
    expect(await context.witness.find('vm', inventory.vmFolder)).not.toContain(at('nowhere'));
  });

  each<[string, object]>([
    ['by its path', { resourcePool: `${inventory.resourcePool}/team-a` }],
    ['below the hosts', { resourcePool: 'DC0_C0/Resources/team-a' }],
    ['by its name', { resourcePool: 'team-a' }],
    ['by its cluster', { resourcePool: 'DC0_C0' }],
  ])('a resource pool is found %s', async (_, vsphere) => {
    expect((await make('pooled', pool(vsphere))).resourcePoolId).toBe(
      vsphere && 'resourcePool' in vsphere && vsphere.resourcePool === 'DC0_C0'
        ? await context.witness.idOf(inventory.resourcePool)
        : context.ids.pool,
    );
  });

  test('a standard network is as good as a distributed one', async () => {
    await make('standard', pool({ network: 'VM Network', networkAdapterType: 'e1000' }));
    expect((await seen('standard')).config.hardware.device.some(({ macAddress }) => macAddress !== undefined)).toBe(
      true,
    );
  });

  each<[string, object]>([
    ['scsiType', { scsiType: 'ide' }],
    ['networkAdapterType', { networkAdapterType: 'tokenring' }],
  ])('a %s that vSphere does not have is said', async (field, vsphere) => {
    expect(await failureOf(make('wrong', pool(vsphere)))).toMatchObject({
      type: 'InvalidObject',
      message: expect.stringContaining(`spec.vsphere.${field}`),
    });
  });

  test('a VM of that name without the mark is never touched', async () => {
    await make('first');
    await context.witness.cloneVm({ from: inventory.template, to: at('taken') });
    const before = (await seen('taken')).config.changeVersion;
    expect(await failureOf(make('taken'))).toMatchObject({ type: 'VirtualMachineNameTaken' });
    expect(await failureOf(find('taken'))).toMatchObject({ type: 'VirtualMachineNameTaken' });
    expect(await failureOf(destroy('taken'))).toMatchObject({ type: 'VirtualMachineNameTaken' });
    expect(await use((tools) => findAgentVm(tools, { ...of('taken'), isGoing: true }))).toBeNull();
    expect((await seen('taken')).config.changeVersion).toBe(before);
  });

  test('a VM whose mark is another one’s is never touched', async () => {
    await make('marked');
    await context.witness.changeVm(at('marked'), { extraConfig: { [agentVmKeys.agentUid]: 'another' } });
    expect(await failureOf(find('marked'))).toMatchObject({ type: 'VirtualMachineNotOwned' });
    expect(await failureOf(destroy('marked'))).toMatchObject({ type: 'VirtualMachineNotOwned' });
    expect(await context.witness.find('vm', folder)).toContain(at('marked'));
  });

  test('one that was renamed and moved is found by its instance UUID', async () => {
    const { id } = await make('moved');
    await context.witness.rename(at('moved'), 'elsewhere');
    expect((await find('moved'))?.id).toBe(id);
    expect(await destroy('moved')).toBe(true);
  });

  test('tags are attached once, it is powered on, and the ISO is taken out', async () => {
    const tagged = pool({ vmTags: [tag] });
    await make('run', tagged);
    const describe_ = () =>
      use(async (tools) => {
        const vm = await findAgentVm(tools, of('run', tagged));
        return vm === null ? null : await describeAgentVm(tools, vm, tagged);
      });
    expect(await describe_()).toMatchObject({ missingTags: [tag], isOn: false });
    for (let time = 0; time < 2; time += 1) {
      await use((tools) => attachAgentTags(tools, of('run', tagged)));
      await use((tools) => powerOnAgentVm(tools, of('run', tagged)));
    }
    expect(await context.witness.listTags(at('run'))).toEqual(['agents']);
    expect(await describe_()).toMatchObject({ missingTags: [], isOn: true, iso: `[${isoDatastore}] ${isoPath}` });
    const isos = [`[${isoDatastore}] ${isoPath}`, `[${isoDatastore}] agent-forge/other.iso`];
    expect((await use(({ vcenter }) => findUsedIsos(vcenter, isos, never))).used).toEqual(isos.slice(0, 1));
    await use((tools) => ejectAgentIso(tools, of('run', tagged)));
    await use((tools) => ejectAgentIso(tools, of('run', tagged)));
    expect(await describe_()).toMatchObject({ iso: null, isOn: true });
    expect((await use(({ vcenter }) => findUsedIsos(vcenter, isos, never))).used).toEqual([]);
    expect(context.audit.filter(({ action }) => action === 'attachTag')).toHaveLength(1);
  });

  test('a tag that is not there is said', async () => {
    const tagged = pool({
      vmTags: [`${tag.replace(/:[^:]+:GLOBAL$/u, '')}:00000000-0000-4000-8000-000000000000:GLOBAL`],
    });
    await make('untagged', tagged);
    expect(await failureOf(use((tools) => attachAgentTags(tools, of('untagged', tagged))))).toMatchObject({
      type: 'VsphereObjectNotFound',
    });
  });

  test('one that runs is destroyed with its files; what was not made with it stays', async () => {
    await make('gone');
    await use((tools) => powerOnAgentVm(tools, of('gone')));
    await context.witness.makeDirectory({ datastore: isoDatastore, path: 'volumes' });
    await context.witness.attachNewDisk(at('gone'), { datastore: isoDatastore, path: 'volumes/kept', sizeMiB: 1 });
    expect(await destroy('gone')).toBe(true);
    expect(await context.witness.find('vm', folder)).toEqual([]);
    expect(await context.witness.listFiles({ datastore: isoDatastore, path: 'volumes' })).toContain('kept.vmdk');
    for (const datastore of inventory.podDatastores)
      expect(await context.witness.listFiles({ datastore, path: '' })).not.toContain('gone');
    expect(await destroy('gone')).toBe(false);
  });

  test('the VMs of a pool are listed by their mark, in one call', async () => {
    expect(await use(({ vcenter }) => listMarkedVms(vcenter, pool({ folder: 'never-made' }), never))).toEqual([]);
    await make('listed');
    await context.witness.cloneVm({ from: inventory.template, to: at('foreign') });
    await context.control.clearRequests();
    const found = await use(({ vcenter }) => listMarkedVms(vcenter, pool(), never));
    expect(found).toEqual([
      {
        vmId: expect.any(String),
        name: 'listed',
        agent: 'team/listed',
        uid: uidOf('listed'),
        poolUid: 'u-1',
        cluster: 'east',
        biosUUID: vmIdentityOf(uidOf('listed')).biosUuid,
        isOn: false,
        createdMs: expect.anything(),
      },
    ]);
    expect(await context.requests('RetrievePropertiesEx')).toHaveLength(1);
    const other = { ...pool(), metadata: { ...pool().metadata, name: 'pool-b' } };
    expect(await use(({ vcenter }) => listMarkedVms(vcenter, other, never))).toEqual([]);
    const [listed] = found;
    const stray = (of_: VsphereAgentPool) => use((tools) => destroyMarkedVm(tools, of_, listed!, 'the test'));
    expect(await stray(other)).toBe(false);
    expect(await context.witness.find('vm', folder)).toContain(at('listed'));
    expect(await stray(pool())).toBe(true);
    expect(await stray(pool())).toBe(false);
    expect(await context.witness.find('vm', folder)).toEqual([at('foreign')]);
  });

  test('a list that is not answered is a failure', async () => {
    await make('one');
    await context.control.fail({ method: 'RetrievePropertiesEx', fault: 'HostCommunication' });
    expect(await failureOf(use(({ vcenter }) => listMarkedVms(vcenter, pool(), never)))).toMatchObject({
      type: 'VsphereUnavailable',
    });
  });

  test('the datastore cluster has free space', async () => {
    const space = await use(({ vcenter }) => readFreeSpace(vcenter, pool(), never));
    expect(space.name).toBe('DC0_POD0');
    expect(space.freeBytes).toBeGreaterThanOrEqual(space.largestFreeBytes);
    expect(space.capacityBytes).toBeGreaterThanOrEqual(space.freeBytes);
    expect(space.largestFreeBytes).toBeGreaterThan(0);
  });

  test('one whose create was answered by nothing is found by the next attempt', async () => {
    await context.control.inject({ method: 'CreateVM_Task', does: 'cut', after: true });
    expect(await failureOf(make('cut'))).toMatchObject({ type: 'VsphereUnavailable' });
    const { id } = await make('cut');
    expect(id).toBe((await seen('cut')).id);
    expect(await context.witness.find('vm', folder)).toEqual([at('cut')]);
  });

  test('without room it says so, and makes nothing', async () => {
    await context.control.fail({ method: 'CreateVM_Task', fault: 'NoDiskSpace', inTask: true });
    expect(await failureOf(make('full'))).toMatchObject({ type: 'VsphereResourcesExhausted' });
    expect(await find('full')).toBeNull();
  });
}
