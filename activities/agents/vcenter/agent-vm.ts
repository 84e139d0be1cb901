import { isSameUuid, uuidOf } from '../../../contracts/agent-pool/identity.ts';
import { isoFileName } from '../../../contracts/agent-pool/iso.ts';
import type { AgentVm } from '../../../contracts/agent-pool/vsphere-agent.ts';
import { vmIdentityOf } from '../../../contracts/agent-pool/vm-identity.ts';
import type { VsphereAgentPool } from '../../../contracts/crds/vsphere-agent-pool.ts';
import type { Submission, VmSubject } from '../../../contracts/virtual-machine/activities.ts';
import { droverFailure, failureCode } from '../../../runtime/failure.ts';
import type { ActivityContext } from '../../lib/context.ts';
import { mutate } from '../../lib/mutate.ts';
import { findVm, readOwnedThere } from '../../vsphere/mutations/find-vm.ts';
import { submitNewVm } from '../../vsphere/mutations/submit-new-vm.ts';
import { submitPower } from '../../vsphere/mutations/submit-power.ts';
import { submitReconfigure } from '../../vsphere/mutations/submit-reconfigure.ts';
import { cdromsOf, networkCardsOf } from '../../vsphere/observation/devices.ts';
import { attachTag, listAttachedTags } from '../../vsphere/rest/tags.ts';
import { emptyVmSpec } from '../../vsphere/specs/new-vm.ts';
import { awaitTask } from '../../vsphere/tasks/await-task.ts';
import type { VirtualMachine } from '../../vsphere/types.ts';
import { folderRef, type ManagedObjectReference } from '../../vsphere/wire/values.ts';
import { type AgentOfVm, agentVmSpec, ownerOf } from './agent-vm-spec.ts';
import { folderPathOf, forgetPlaces, readPoolPlaces } from './pool-places.ts';
import type { PoolVcenter } from './pool-vcenters.ts';
import { recommendDatastore } from './recommend-datastore.ts';

/** The VM of a VsphereAgent at its vCenter: found by its mark, whatever has become of the call that made it. */

/** What one execution works with. */
export interface VmTools extends ActivityContext {
  vcenter: PoolVcenter;
}

/** One VM of a pool. */
export interface VmOfPool {
  pool: Pick<VsphereAgentPool, 'metadata' | 'spec'>;
  agent: AgentOfVm;
  vmName: string;
  /** What caused a change, for the audit log. */
  cause: string;
  /** It is to go: what has its name and another owner is of no account, unless it is the host that is recorded. */
  isGoing?: boolean;
  /** BIOS UUID of its host, as its object says it. Null: none was ever seen. Left out: it is not known. */
  recordedUuid?: string | null;
}

const adapterTools = ({ vcenter: { gateway }, ...context }: VmTools) => ({ ...context, gateway });

/**
 * Of one that is to go, and whose VM was never seen, nothing is found only when no create is under way in its folder:
 * its worker may have died, and the task make the VM all the same.
 *
 * @throws VirtualMachineNotOwned, VirtualMachineNameTaken for a VM of another owner, VirtualMachineAmbiguous, and
 *   VsphereBusy where a create may still make it
 */
export async function findAgentVm(
  tools: VmTools,
  { pool, agent, vmName, isGoing = false, recordedUuid }: VmOfPool,
): Promise<VirtualMachine | null> {
  const {
    vcenter: { inventory },
    scope: { signal },
  } = tools;
  const folder = await inventory.find(folderPathOf(pool), signal);
  const { instanceUuid } = vmIdentityOf(agent.uid);
  // Before the VM is looked for: one that ends in between has made it.
  const creates = isGoing && recordedUuid === null ? await createsIn(tools, folder) : [];
  let found: VirtualMachine | null;
  try {
    found = await findVm(adapterTools(tools), {
      instanceUuid,
      folder: folder?.value ?? null,
      name: vmName,
      owner: ownerOf(agent),
    });
  } catch (error) {
    if (isGoing && failureCode(error) === 'VirtualMachineNameTaken') {
      if (folder !== null)
        await refuseHost(tools, { agent, vmName, folder: folder.value, recordedUuid: recordedUuid ?? null });
      return null;
    }
    if (failureCode(error) === 'VsphereObjectNotFound') forgetPlaces(tools.vcenter, pool);
    throw error;
  }
  if (found === null && creates.length > 0)
    throw droverFailure(
      'VsphereBusy',
      `${creates.join(', ')} at vCenter ${tools.vcenter.name} may still make VM ${vmName} of VsphereAgent ${agent.namespace}/${agent.name}`,
    );
  return found;
}

/** Creates in a folder that have not ended, of whatever VM. Null: the folder is not there, so that it has none. */
async function createsIn(
  { vcenter: { gateway }, scope: { signal } }: VmTools,
  folder: ManagedObjectReference | null,
): Promise<string[]> {
  if (folder === null) return [];
  const mayMake = async (task: string): Promise<boolean> => {
    try {
      const { state, entity } = await gateway.readTask(task, signal);
      return (state === 'queued' || state === 'running') && (entity === null || entity.value === folder.value);
    } catch (error) {
      if (failureCode(error) === 'VsphereTaskNotFound') return false;
      throw error;
    }
  };
  const creates = await gateway.runningCreates(signal);
  const may = await Promise.all(creates.map(mayMake));
  return creates.filter((_, index) => may[index] === true);
}

/**
 * A host that agent-forge-operator made has no mark, so that drover never destroys it. Without its object nobody would
 * be told that it is there and on.
 *
 * @throws VirtualMachineNameTaken where the VM of that name is the host that is recorded
 */
async function refuseHost(
  { vcenter: { gateway }, scope: { signal } }: VmTools,
  {
    agent,
    vmName,
    folder,
    recordedUuid,
  }: Required<Pick<VmOfPool, 'agent' | 'vmName' | 'recordedUuid'>> & { folder: string },
): Promise<void> {
  const recorded = uuidOf(recordedUuid);
  if (recorded === null) return;
  const found = await gateway.findInFolder(folder, vmName, signal);
  if (found.kind !== 'vm' || !isSameUuid(uuidOf(found.vm.biosUuid) ?? '', recorded)) return;
  throw droverFailure(
    'VirtualMachineNameTaken',
    `${vmName} (${found.vm.id}) at vCenter ${gateway.vcenter} is the host of VsphereAgent ${agent.namespace}/${agent.name}, and drover did not make it: destroy it in vCenter, or give it another name there if it is to stay`,
  );
}

/** @throws VirtualMachineNotFound */
async function thereOf(tools: VmTools, of: VmOfPool): Promise<VirtualMachine> {
  const vm = await findAgentVm(tools, of);
  if (vm !== null) return vm;
  throw droverFailure(
    'VirtualMachineNotFound',
    `vCenter ${tools.vcenter.name} has no VM of VsphereAgent ${of.agent.namespace}/${of.agent.name}`,
  );
}

const subjectOf = ({ id: vmId }: VirtualMachine, { agent, cause }: VmOfPool): VmSubject => ({
  vmId,
  owner: ownerOf(agent),
  cause,
});

/** As decisions need it. Tags are asked for where the pool has some. */
export async function describeAgentVm(
  { vcenter: { rest }, scope: { signal } }: VmTools,
  vm: VirtualMachine,
  pool: VmOfPool['pool'],
): Promise<AgentVm> {
  const { vmTags = [] } = pool.spec.vsphere;
  const attached = vmTags.length === 0 ? [] : await listAttachedTags(rest, vm.id, signal);
  return { ...agentVmOf(vm), missingTags: vmTags.filter((tag) => !attached.includes(tag)) };
}

/** Pure. */
export function agentVmOf({
  id,
  name,
  biosUuid,
  powerState,
  config,
}: Pick<VirtualMachine, 'id' | 'name' | 'biosUuid' | 'powerState' | 'config'>): Omit<AgentVm, 'missingTags'> {
  const devices = config?.devices ?? [];
  const isOn = powerState === 'poweredOn';
  return {
    vmId: id,
    name,
    biosUUID: biosUuid.toLowerCase(),
    macAddress: networkCardsOf(devices)[0]?.macAddress?.replaceAll(':', '-') ?? null,
    isOn,
    iso: cdromsOf(devices, isOn).find(({ iso }) => iso !== '')?.iso ?? null,
  };
}

/**
 * Makes the VM and waits for it. One that an earlier attempt made is found.
 *
 * @param iso path in the datastore of ISOs: `agent-forge/<sha256>.iso`
 * @param cluster as drover's settings call it; empty: they do not
 */
export async function createAgentVm(
  tools: VmTools,
  of: VmOfPool & { iso: string; cluster: string },
): Promise<VirtualMachine> {
  try {
    return await create(tools, of);
  } catch (error) {
    // A path may have led to something that is gone.
    if (failureCode(error) === 'VsphereObjectNotFound') forgetPlaces(tools.vcenter, of.pool);
    throw error;
  }
}

async function create(tools: VmTools, of: VmOfPool & { iso: string; cluster: string }): Promise<VirtualMachine> {
  const { vcenter, scope } = tools;
  const { pool, agent, vmName, cause, cluster } = of;
  const places = await readPoolPlaces(vcenter, pool, scope.signal);
  const folder = await ensureFolder(tools, of, places.folderPath);
  const iso = isoFileName(pool.spec.vsphere.isoDatastore, of.iso);
  const request = { agent, name: vmName, pool, iso, places: { ...places, folder }, cluster };
  const owner = ownerOf(agent);
  const { files: _nowhere, ...config } = emptyVmSpec(agentVmSpec({ ...request, datastore: '' }), owner, '');
  const datastore = await recommendDatastore(
    vcenter,
    {
      pod: places.pod,
      config,
      resourcePool: places.resourcePool,
      folder,
      diskBytes: pool.spec.template.diskGiB * 1_024 ** 3,
    },
    scope.signal,
  );
  const adapter = adapterTools(tools);
  const made = await submitNewVm(adapter, vcenter.rest, {
    create: agentVmSpec({ ...request, datastore }),
    owner,
    cause,
  });
  const vmId = 'taskId' in made ? (await awaitTask(adapter, made)).vmId : 'vmId' in made ? made.vmId : null;
  return vmId === null ? await thereOf(tools, of) : await readOwnedThere(adapter, { vmId, owner, cause });
}

/** Makes what is missing of the path. Its id. */
async function ensureFolder(tools: VmTools, of: Pick<VmOfPool, 'agent' | 'cause'>, path: string): Promise<string> {
  const { agent, cause } = of;
  const {
    vcenter: { gateway, inventory, name: vcenter },
    scope: { signal },
  } = tools;
  const found = await inventory.find(path, signal);
  if (found?.type === 'Folder') return found.value;
  const end = path.lastIndexOf('/');
  const [parentPath, name] = [path.slice(0, end), path.slice(end + 1)];
  if (found !== null || !/^\/.+\/vm(\/|$)/u.test(parentPath))
    throw droverFailure(
      'VsphereObjectNotFound',
      `${path} at vCenter ${vcenter} is no folder of VMs, and none can be made`,
    );
  const parent = await ensureFolder(tools, of, parentPath);
  try {
    const made = await mutate(
      tools,
      {
        action: 'makeFolder',
        object: `agent/${agent.namespace}/${agent.name}`,
        cause,
        before: null,
        after: { vcenter, folder: path },
      },
      () => gateway.call('CreateFolder', folderRef(parent), { name }, signal),
    );
    return made.value;
  } catch (error) {
    // Another VM of the pool was faster.
    if (failureCode(error) !== 'VirtualMachineNameTaken') throw error;
    const now = await inventory.find(path, signal);
    if (now?.type !== 'Folder') throw error;
    return now.value;
  }
}

export async function attachAgentTags(tools: VmTools, of: VmOfPool): Promise<void> {
  const {
    vcenter: { rest, name },
    scope: { signal },
  } = tools;
  const vm = await thereOf(tools, of);
  const { missingTags } = await describeAgentVm(tools, vm, of.pool);
  for (const tag of missingTags)
    await mutate(
      tools,
      {
        action: 'attachTag',
        object: `agent/${of.agent.namespace}/${of.agent.name}`,
        cause: of.cause,
        before: null,
        after: { vcenter: name, vmId: vm.id, tag },
      },
      () => attachTag(rest, tag, vm.id, signal),
    );
}

export async function powerOnAgentVm(tools: VmTools, of: VmOfPool): Promise<void> {
  const vm = await thereOf(tools, of);
  await settle(tools, await submitPower(adapterTools(tools), { ...subjectOf(vm, of), operation: 'powerOn' }));
}

/** Takes the ISOs out of its drives. */
export async function ejectAgentIso(tools: VmTools, of: VmOfPool): Promise<void> {
  const vm = await thereOf(tools, of);
  const drives = cdromsOf(vm.config?.devices ?? [], vm.powerState === 'poweredOn').filter(({ iso }) => iso !== '');
  if (vm.config === null || drives.length === 0) return;
  await settle(
    tools,
    await submitReconfigure(adapterTools(tools), {
      ...subjectOf(vm, of),
      changeVersion: vm.config.changeVersion,
      spec: {
        deviceChange: drives.map((drive) => ({
          operation: 'edit',
          device: 'cdrom',
          cdrom: { ...drive, iso: '', connected: false },
        })),
      },
    }),
  );
}

async function settle(tools: VmTools, submitted: Submission): Promise<void> {
  if (submitted !== null && 'taskId' in submitted) await awaitTask(adapterTools(tools), submitted);
}
