import { findCondition } from '../../contracts/conditions.ts';
import { annotations } from '../../contracts/ids.ts';
import { virtualMachineConditions } from '../../contracts/virtual-machine/conditions.ts';
import { extraConfigKeys, virtualMachineAnnotations } from '../../contracts/virtual-machine/metadata.ts';
import { inventory } from '../../lab/vsphere/handle.ts';
import { checkInvariants } from '../invariants.ts';
import { until } from './until.ts';
import type { VmWorld } from './virtual-machine-world.ts';
import { namespace, openVmWorld } from './virtual-machine-world.ts';
import { startTimeoutMs } from './vsphere-world.ts';
import { limitMs } from './world-base.ts';

/** What is an object's own in vCenter, and what is not: nothing else is taken, set up anew, or destroyed. */

let world: VmWorld;

beforeAll(async () => {
  // No guest of the lab's has Tools.
  world = await openVmWorld({ settings: { virtualMachine: { toolsMs: 500 } } });
}, startTimeoutMs);
afterAll(() => world?.close(), limitMs);
afterEach(() => checkInvariants(world.observed), limitMs);

const reconciled = /^True Reconciled/u;
const folder = `${inventory.vmFolder}/${namespace}`;
const pool = `${inventory.resourcePool}/${namespace}`;
const datastore = 'LocalDS_0';

const idOf = async (name: string): Promise<string> =>
  (await world.vcenter.listVms()).find((vm) => vm.name === name)?.id ?? '';
/** As a user does it. */
const annotate = (name: string, given: Record<string, string | null>): Promise<unknown> =>
  world.kubectl(
    'patch',
    'virtualmachine',
    name,
    '-n',
    namespace,
    '--type=merge',
    '-p',
    JSON.stringify({ metadata: { annotations: given } }),
  );
const conditionOf = async (name: string, type: string): Promise<string> => {
  const condition = findCondition((await world.read(name))?.status?.conditions, type);
  return condition === undefined ? 'none' : `${condition.status} ${condition.reason}: ${condition.message}`;
};
const calls = async (method: string, text: string): Promise<number> =>
  (await world.control.requests()).filter((request) => request.method === method && request.body.includes(text)).length;

test(
  'a copy that a backup tool makes, with both marks, is named and left alone, also when its original is deleted',
  async () => {
    await world.create('original');
    await world.untilReported('original', reconciled);
    const { metadata, status } = (await world.read('original')) ?? {};
    await world.vcenter.cloneVm({ from: `${folder}/original`, to: `${folder}/restored`, pool });
    await world.vcenter.changeVm(`${folder}/restored`, {
      extraConfig: {
        [extraConfigKeys.namespacedName]: `${namespace}/original`,
        [extraConfigKeys.objectUid]: metadata?.uid ?? '',
      },
    });
    const copy = await idOf('restored');
    world.observed.vms.copies = [copy];
    const { unique } = virtualMachineConditions;
    // Its own is found without a list, and the list of all is some seconds old.
    let looks = 0;
    await until('the copy to be named', 40_000, async () => {
      await annotate('original', { [annotations.retry]: String((looks += 1)) });
      const said = await conditionOf('original', unique);
      return said.startsWith(`False CopyFound: restored (${copy}) is a copy of it`) ? { said } : said;
    });
    await world.untilReported('original', reconciled);
    expect((await world.read('original'))?.status?.uniqueID).toBe(status?.uniqueID);
    expect((await world.command('describe', 'vm', `${namespace}/original`)).stdout).toContain('CopyFound');

    // It is still driven.
    await world.change('original', { spec: { powerState: 'PoweredOff' } });
    await world.untilReported('original', reconciled);
    expect(await world.witness('original')).toMatchObject({ powerState: 'poweredOff' });
    const before = await world.witness('restored');
    await world.remove('original');
    await world.untilReported('original', /^gone$/u);
    expect(await world.witness('original')).toBeNull();
    expect(await world.witness('restored')).toEqual(before);
    await world.vcenter.destroyVm(`${folder}/restored`);
  },
  2 * limitMs,
);

test(
  'in another vCenter than the one that it notes nothing is made, released or destroyed, until a person says so',
  async () => {
    await world.create('settled');
    await world.untilReported('settled', reconciled);
    const managerId = (await world.read('settled'))?.metadata.annotations?.[virtualMachineAnnotations.managerId];
    expect(managerId).toBe(await world.vcenter.managerId());
    await annotate('settled', { [virtualMachineAnnotations.managerId]: 'of-before' });
    await world.change('settled', { spec: { powerState: 'PoweredOff' } });
    await world.untilReported('settled', /^False VcenterChanged: .*of-before.*annotate it with/u);
    expect(await world.witness('settled')).toMatchObject({ powerState: 'poweredOn' });
    expect(await conditionOf('settled', virtualMachineConditions.created)).toMatch(/^True/u);
    await world.remove('settled');
    await world.untilReported('settled', /^False VcenterChanged/u);
    expect(await world.witness('settled')).toMatchObject({ powerState: 'poweredOn' });

    await annotate('settled', { [virtualMachineAnnotations.managerId]: managerId ?? null });
    await world.untilReported('settled', /^gone$/u);
    expect(await world.witness('settled')).toBeNull();
  },
  limitMs,
);

test(
  'moved out of its namespace it is left as it is, and driven again when it is back',
  async () => {
    await world.create('moved');
    await world.untilReported('moved', reconciled);
    await world.vcenter.move(`${folder}/moved`, inventory.vmFolder);
    await world.change('moved', { spec: { powerState: 'PoweredOff' } });
    await world.untilReported('moved', /^False Failed: moved was moved out of its namespace/u);
    expect(await conditionOf('moved', virtualMachineConditions.locationValid)).toMatch(/^False FolderMismatch/u);
    expect((await world.vcenter.listVms()).find(({ name }) => name === 'moved')).toMatchObject({
      powerState: 'poweredOn',
    });
    await world.vcenter.move(`${inventory.vmFolder}/moved`, folder);
    await world.command('retry', 'vm', `${namespace}/moved`);
    await world.untilReported('moved', reconciled);
    expect(await world.witness('moved')).toMatchObject({ powerState: 'poweredOff' });
    await world.remove('moved');
    await world.untilReported('moved', /^gone$/u);
  },
  limitMs,
);

test(
  'a disk of another owner that a snapshot holds holds the deletion of its VM',
  async () => {
    await world.create('snapped');
    await world.untilReported('snapped', reconciled);
    await world.vcenter.makeDirectory({ datastore, path: 'theirs' });
    await world.vcenter.attachNewDisk(`${folder}/snapped`, { datastore, path: 'theirs/data', sizeMiB: 1 });
    await world.vcenter.createSnapshot(`${folder}/snapped`, 'before');
    await world.remove('snapped');
    await world.untilReported(
      'snapped',
      /^False DisksInSnapshots: Snapshots of snapped hold \[LocalDS_0\] theirs\/data\.vmdk/u,
    );
    expect(await world.witness('snapped')).not.toBeNull();
    await world.vcenter.removeSnapshots(`${folder}/snapped`);
    await world.command('retry', 'vm', `${namespace}/snapped`);
    await world.untilReported('snapped', /^gone$/u);
    expect(await world.vcenter.listFiles({ datastore, path: 'theirs' })).toContain('data.vmdk');
  },
  limitMs,
);

const kinds: [kind: string, bootstrap: object, changed: object][] = [
  [
    'CloudInit',
    { cloudInit: { instanceID: 'i-1', rawCloudConfig: { name: 'setup', key: 'data' } } },
    { cloudInit: { sshAuthorizedKeys: ['ssh-ed25519 AAAA'] } },
  ],
  ['LinuxPrep', { linuxPrep: { timeZone: 'Etc/UTC' } }, { linuxPrep: { timeZone: 'Europe/Berlin' } }],
  [
    'Sysprep',
    { sysprep: { sysprep: { guiUnattended: { timeZone: 85 }, userData: { fullName: 'A', orgName: 'B' } } } },
    { sysprep: { sysprep: { userData: { orgName: 'C' } } } },
  ],
];

test.each(kinds)(
  'a VM that VM Operator has made and set up by %s is taken over as it is: its guest is set up anew only where the spec changes',
  async (kind, bootstrap, changed) => {
    const name = `former-${kind.toLowerCase()}`;
    await world.kubectl('delete', 'secret', 'setup', '-n', namespace, '--ignore-not-found');
    await world.make({
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { namespace, name: 'setup' },
      stringData: { data: '#cloud-config\n' },
    });
    await world.vcenter.cloneVm({ from: inventory.template, to: `${folder}/${name}`, pool });
    await world.vcenter.changeVm(`${folder}/${name}`, {
      extraConfig: { [extraConfigKeys.namespacedName]: `${namespace}/${name}`, 'guestinfo.metadata': 'of-before' },
    });
    const vmId = await idOf(name);
    const { instanceUuid } = (await world.witness(name)) ?? { instanceUuid: '' };
    await world.create(
      name,
      { instanceUUID: instanceUuid, bootstrap },
      {
        [virtualMachineAnnotations.managerId]: await world.vcenter.managerId(),
        [virtualMachineAnnotations.firstBootDone]: 'true',
        [virtualMachineAnnotations.bootstrapConfigHash]: '0123',
        [virtualMachineAnnotations.bootstrapCustomHash]: '4567',
      },
    );
    await world.untilReported(name, reconciled);
    await world.change(name, { spec: { powerState: 'PoweredOff' } });
    await world.untilReported(name, reconciled);
    await world.change(name, { spec: { powerState: 'PoweredOn' } });
    await world.untilReported(name, reconciled);
    const written = async (): Promise<number> =>
      (await calls('CustomizeVM_Task', `>${vmId}<`)) + (await calls('ReconfigVM_Task', 'guestinfo.metadata<'));
    const before = await written();
    const described = await world.vcenter.describeVm(`${folder}/${name}`);
    expect(described?.config.extraConfig).toContainEqual(
      expect.objectContaining({ key: 'guestinfo.metadata', value: 'of-before' }),
    );
    expect(await calls('CustomizeVM_Task', `>${vmId}<`)).toBe(0);
    expect((await world.read(name))?.status?.uniqueID).toBe(vmId);

    await world.change(name, { spec: { bootstrap: changed, powerState: 'PoweredOff' } });
    await world.untilReported(name, reconciled);
    expect(await written()).toBe(before + 1);
    await world.remove(name);
    await world.untilReported(name, /^gone$/u);
  },
  2 * limitMs,
);
