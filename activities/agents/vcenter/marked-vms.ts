import { z } from 'zod';

import { agentVmKeys } from '../../../contracts/agent-pool/metadata.ts';
import type { OwnerReference } from '../../../contracts/virtual-machine/activities.ts';
import { droverFailure } from '../../../runtime/failure.ts';
import { readOwned } from '../../vsphere/mutations/find-vm.ts';
import { cdromsOf } from '../../vsphere/observation/devices.ts';
import { checked, type ReadObject, traversal } from '../../vsphere/properties.ts';
import type { VirtualMachine } from '../../vsphere/types.ts';
import { vim } from '../../vsphere/wire/kinds.ts';
import type { VmTools } from './agent-vm.ts';
import { destroyVm } from './destroy-vm.ts';
import { folderPathOf, type PoolOfPlaces, readPod } from './pool-places.ts';
import type { PoolVcenter } from './pool-vcenters.ts';

/** A VM with the mark of a pool. */
export interface MarkedVm {
  vmId: string;
  name: string;
  /** `namespace/name` of its VsphereAgent, and the uid. */
  agent: string;
  uid: string;
  /** Uid of the pool that it was made for; empty: it does not say. */
  poolUid: string;
  /** As drover's settings called the cluster when it was made; empty: they did not. */
  cluster: string;
  biosUUID: string;
  /** It is not known to be off. */
  isOn: boolean;
  /** Unix ms; null: vCenter does not know it. */
  createdMs: number | null;
}

const keyPath = (key: string): string => `config.extraConfig["${key}"]`;
const option = z.looseObject({ value: z.union([z.string(), z.number(), z.boolean()]) });
const markOf = ({ properties }: ReadObject, key: keyof typeof agentVmKeys): string =>
  String(option.safeParse(properties[keyPath(agentVmKeys[key])]).data?.value ?? '');

const listed = z.object({
  name: z.string(),
  'summary.config.uuid': z.string().default(''),
  'runtime.powerState': z.string().default(''),
  'config.template': z.boolean().default(false),
  'config.createDate': z.string().optional(),
});
const listPaths = [...Object.keys(listed.shape), ...Object.values(agentVmKeys).map(keyPath)];

/**
 * The VMs with the mark of a pool in its folder, in one call and one more for each further page. What vCenter does not
 * know the mark of, such as a VM whose files it cannot reach, is not among them.
 *
 * @throws AnswerMalformed; as a call does
 */
export async function listMarkedVms(
  { gateway }: Pick<PoolVcenter, 'gateway'>,
  pool: PoolOfPlaces,
  signal: AbortSignal,
): Promise<MarkedVm[]> {
  // What is remembered of it may be gone, and would be taken for an empty one.
  const folder = await gateway.findByPath(folderPathOf(pool), signal);
  // It is made with the first VM.
  if (folder?.type !== 'Folder') return [];
  const objects = await gateway.retrieve(
    {
      propSet: [
        { type: 'Folder', pathSet: ['name'] },
        { type: 'VirtualMachine', pathSet: listPaths },
      ],
      objectSet: [{ obj: folder, selectSet: [traversal('Folder', 'childEntity')] }],
    },
    signal,
  );
  if (!objects.some(({ ref }) => ref.value === folder.value))
    throw droverFailure(
      'VsphereObjectNotFound',
      `The folder ${folderPathOf(pool)} of vCenter ${gateway.vcenter} is gone`,
    );
  const own = `${pool.metadata.namespace ?? ''}/${pool.metadata.name}`;
  return objects.flatMap((object) => toMarkedVm(gateway.vcenter, object, own));
}

function toMarkedVm(vcenter: string, object: ReadObject, pool: string): MarkedVm[] {
  if (object.ref.type !== 'VirtualMachine') return [];
  const read = checked({ name: vcenter }, listed, object);
  const [agent, uid] = [markOf(object, 'agent'), markOf(object, 'agentUid')];
  if (markOf(object, 'pool') !== pool || agent === '' || uid === '' || read['config.template']) return [];
  const createdMs = Date.parse(read['config.createDate'] ?? '');
  return [
    {
      vmId: object.ref.value,
      name: read.name,
      agent,
      uid,
      poolUid: markOf(object, 'poolUid'),
      cluster: markOf(object, 'cluster'),
      biosUUID: read['summary.config.uuid'].toLowerCase(),
      isOn: read['runtime.powerState'] !== 'poweredOff',
      // vCenter says 1970 of VMs that were made before it kept the time.
      createdMs: createdMs > 0 ? createdMs : null,
    },
  ];
}

/**
 * Destroys one that was listed, if it still has the same mark. Whether it may go is the caller's to judge right before.
 *
 * @param isOn one that was off when it was listed goes only while it is
 * @returns false: it is gone, has another mark, or was powered on
 */
export async function destroyMarkedVm(
  tools: VmTools,
  pool: PoolOfPlaces,
  { vmId, agent, uid, isOn }: Pick<MarkedVm, 'vmId' | 'agent' | 'uid' | 'isOn'>,
  cause: string,
): Promise<boolean> {
  const owner: OwnerReference = { kind: 'VsphereAgent', namespacedName: agent, uid };
  const own = `${pool.metadata.namespace ?? ''}/${pool.metadata.name}`;
  const find = async (): Promise<VirtualMachine | null> => {
    const vm = await readOwned({ gateway: tools.vcenter.gateway, scope: tools.scope }, { vmId, owner, cause });
    const isSame = vm?.config?.extraConfig[agentVmKeys.pool] === own;
    return isSame && (isOn || vm.powerState === 'poweredOff') ? vm : null;
  };
  return await destroyVm(tools, find, { owner, cause });
}

/** Of the datastore cluster of a pool: what its datastores that can be used have together. One call. */
export async function readFreeSpace(
  vcenter: Pick<PoolVcenter, 'name' | 'inventory'>,
  pool: PoolOfPlaces,
  signal: AbortSignal,
): Promise<{ name: string; freeBytes: number; capacityBytes: number; largestFreeBytes: number }> {
  const { name, members } = await readPod(vcenter, pool, signal);
  const usable = members.filter(({ isUsable }) => isUsable);
  return {
    name,
    freeBytes: usable.reduce((sum, { freeBytes }) => sum + freeBytes, 0),
    capacityBytes: usable.reduce((sum, { capacityBytes }) => sum + capacityBytes, 0),
    largestFreeBytes: Math.max(0, ...usable.map(({ freeBytes }) => freeBytes)),
  };
}

const named = (name: string) => ({ $type: 'SelectionSpec', name });
/** From the root to all VMs: those in a vApp are in no folder. */
const allVms = [
  {
    ...traversal('Folder', 'childEntity', [named('folders'), named('datacenters'), named('vApps')]),
    name: 'folders',
  },
  { ...traversal('Datacenter', 'vmFolder', [named('folders')]), name: 'datacenters' },
  { ...traversal('VirtualApp', 'vm'), name: 'vApps' },
];

const hardware = z.object({
  name: z.string().default(''),
  'config.hardware': vim('VirtualHardware').optional(),
});

/**
 * Which of these ISOs are in a drive of a VM of the vCenter, also in one that is off.
 *
 * @param isos `[datastore] folder/file.iso`
 * @returns also the VMs whose drives vCenter does not know: any of the ISOs may be in them
 */
export async function findUsedIsos(
  { vim: client, gateway }: Pick<PoolVcenter, 'vim' | 'gateway'>,
  isos: readonly string[],
  signal: AbortSignal,
): Promise<{ used: string[]; unknown: string[] }> {
  const { rootFolder } = await client.content(signal);
  const objects = await gateway.retrieve(
    {
      propSet: [{ type: 'VirtualMachine', pathSet: Object.keys(hardware.shape) }],
      objectSet: [{ obj: rootFolder, skip: true, selectSet: allVms }],
    },
    signal,
  );
  const inDrives = new Set<string>();
  const unknown: string[] = [];
  for (const object of objects) {
    if (object.ref.type !== 'VirtualMachine') continue;
    const { name, 'config.hardware': made } = checked({ name: gateway.vcenter }, hardware, object);
    if (made === undefined) unknown.push(`${name} (${object.ref.value})`);
    else for (const { iso } of cdromsOf(made.device ?? [], false)) inDrives.add(iso);
  }
  return { used: isos.filter((iso) => inDrives.has(iso)), unknown };
}
