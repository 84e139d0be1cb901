import { z } from 'zod';
import { cdromsOf, networkCardsOf } from '../../activities/vsphere/observation/devices.ts';
import { openInventory } from '../../activities/vsphere/observation/inventory.ts';
import { checked, traversal } from '../../activities/vsphere/properties.ts';
import { vim } from '../../activities/vsphere/wire/kinds.ts';
import type { VsphereAgentPool } from '../../contracts/crds/vsphere-agent-pool.ts';
import type { BootedVm } from '../../lab/agent-neighbours.ts';
import { vmFolder } from '../../lab/agents.ts';
import { labVcenter } from '../../lab/drover.ts';
import { govc } from '../../lab/vsphere/govc.ts';
import { inventory, type VsphereHandle } from '../../lab/vsphere/handle.ts';
import { systemClock } from '../../runtime/clock.ts';
import { agentVmSpec, ownerOf } from '../../activities/agents/vcenter/agent-vm-spec.ts';
import { readPoolPlaces } from '../../activities/agents/vcenter/pool-places.ts';
import { recommendDatastore } from '../../activities/agents/vcenter/recommend-datastore.ts';
import { readDatastoreName } from '../../activities/vsphere/mutations/submit-file-operation.ts';
import { emptyVmSpec } from '../../activities/vsphere/specs/new-vm.ts';
import { folderRef, poolRef } from '../../activities/vsphere/wire/values.ts';
import { mapConcurrently } from '../load/concurrency.ts';
import { removeByScript, switchOn, untilEnded } from '../vms/bare-script.ts';
import { creates, openScriptVcenter, type ScriptVcenter } from '../vms/bare-vcenter.ts';

/** The lab's vCenter by clients of the benchmark's own: govc takes a process for each look. */
export interface OwnVcenter {
  /** VMs of the pool, as their guests would see themselves. */
  listVms(signal: AbortSignal): Promise<BootedVm[]>;
  /** How many of them are on. */
  countOn(signal: AbortSignal): Promise<number>;
  script: AgentScript;
  close(): Promise<void>;
}

/** Makes VMs like those of a pool without drover. */
export interface AgentScript {
  /** Until all are on. @param atOnce creates that are under way; null: each VM is on before the next one is begun */
  make(
    names: readonly string[],
    of: { pool: VsphereAgentPool; atOnce: number | null },
    signal: AbortSignal,
  ): Promise<void>;
  remove(names: readonly string[], signal: AbortSignal): Promise<void>;
  /** Requests so far. */
  calls(): number;
}

/** As many creates as drover has under way at one vCenter, by its defaults. */
export const sameCreates = creates;
const scriptFolder = 'script';

export async function openOwnVcenter(handle: VsphereHandle): Promise<OwnVcenter> {
  // Apart, so that looks are not counted.
  const [looking, making] = [openScriptVcenter(handle), openScriptVcenter(handle)];
  await govc(handle, 'folder.create', `${inventory.vmFolder}/${scriptFolder}`);
  const script = await openAgentScript(making);
  return {
    listVms: (signal) => listVms(looking, signal),
    countOn: (signal) => countOn(looking, signal),
    script,
    close: async () => void (await Promise.allSettled([looking.gateway.close(), making.gateway.close()])),
  };
}

const onPath = 'runtime.powerState';
const listed = z.object({
  name: z.string(),
  [onPath]: z.string(),
  'config.uuid': z.string(),
  'config.hardware': vim('VirtualHardware'),
});

async function retrieveVms({ gateway }: ScriptVcenter, pathSet: string[], signal: AbortSignal) {
  const folder = await gateway.findByPath(vmFolder, signal);
  // drover makes it with the first VM.
  if (folder === null) return [];
  return await gateway.retrieve(
    {
      propSet: [{ type: 'VirtualMachine', pathSet }],
      objectSet: [{ obj: folder, skip: true, selectSet: [traversal('Folder', 'childEntity')] }],
    },
    signal,
  );
}

async function listVms(vcenter: ScriptVcenter, signal: AbortSignal): Promise<BootedVm[]> {
  const objects = await retrieveVms(vcenter, Object.keys(listed.shape), signal);
  return objects.map((object) => {
    const read = checked({ name: labVcenter }, listed, object);
    const devices = read['config.hardware'].device ?? [];
    const isOn = read[onPath] === 'poweredOn';
    return {
      name: read.name,
      biosUuid: read['config.uuid'].toLowerCase(),
      macAddresses: networkCardsOf(devices).flatMap(({ macAddress }) => macAddress ?? []),
      isOn,
      hasIso: cdromsOf(devices, isOn).some(({ iso }) => iso !== ''),
    };
  });
}

async function countOn(vcenter: ScriptVcenter, signal: AbortSignal): Promise<number> {
  const objects = await retrieveVms(vcenter, [onPath], signal);
  return objects.filter(({ properties }) => properties[onPath] === 'poweredOn').length;
}

/**
 * What a user would write who needs the VMs tonight, with the calls that drover makes for each: is the name free, which
 * datastore, create, poll the task, switch on, poll the task, read the VM. The places are looked up once. No Temporal,
 * no Kubernetes, and nothing survives its end.
 */
async function openAgentScript(vcenter: ScriptVcenter): Promise<AgentScript> {
  const { gateway, calls } = vcenter;
  const folder = (await gateway.findByPath(`${inventory.vmFolder}/${scriptFolder}`, AbortSignal.timeout(10_000)))
    ?.value;
  if (folder === undefined) throw new Error(`the lab's vCenter has no folder ${scriptFolder}`);

  async function make(
    names: readonly string[],
    { pool, atOnce }: { pool: VsphereAgentPool; atOnce: number | null },
    signal: AbortSignal,
  ): Promise<void> {
    const reading = { name: labVcenter, inventory: openInventory(gateway, systemClock) };
    const places = { ...(await readPoolPlaces(reading, pool, signal)), folder: folder ?? '' };
    const iso = `[${pool.spec.vsphere.isoDatastore}] ${pool.status?.iso?.path ?? ''}`;
    const diskBytes = pool.spec.template.diskGiB * 1_024 ** 3;
    const begun = await mapConcurrently(names, atOnce ?? 1, async (name) => {
      const found = await gateway.findInFolder(places.folder, name, signal);
      if (found.kind !== 'nothing') throw new Error(`${name} is there already`);
      const agent = { namespace: 'script', name, uid: crypto.randomUUID() };
      const request = { agent, name, pool, iso, places, cluster: '' };
      const owner = ownerOf(agent);
      const { resourcePool } = places;
      const { files: _nowhere, ...config } = emptyVmSpec(agentVmSpec({ ...request, datastore: '' }), owner, '');
      const where = { pod: places.pod, config, resourcePool, folder: places.folder, diskBytes };
      const datastore = await recommendDatastore({ gateway }, where, signal);
      const task = await gateway.submit(
        'CreateVM_Task',
        folderRef(places.folder),
        {
          config: emptyVmSpec(
            agentVmSpec({ ...request, datastore }),
            owner,
            await readDatastoreName(gateway, datastore, signal),
          ),
          pool: poolRef(resourcePool),
        },
        signal,
      );
      const vmId = (await untilEnded(gateway, task, signal)) ?? '';
      const on = switchOn(gateway, vmId, signal);
      if (atOnce === null) await on;
      // It is reported at the end, when all are waited for.
      on.catch(() => undefined);
      // Wrapped, so that the next create does not wait for it.
      return { on };
    });
    await Promise.all(begun.map(({ on }) => on));
  }

  return { make, remove: (names, signal) => removeByScript(gateway, { folder }, names, signal), calls };
}
