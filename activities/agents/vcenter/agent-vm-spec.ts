import { agentVmKeys } from '../../../contracts/agent-pool/metadata.ts';
import { vmIdentityOf } from '../../../contracts/agent-pool/vm-identity.ts';
import type { VsphereAgentPool } from '../../../contracts/crds/vsphere-agent-pool.ts';
import type { OwnerReference } from '../../../contracts/virtual-machine/activities.ts';
import { type CreateSpec, scsiControllers } from '../../../contracts/virtual-machine/mutations.ts';
import { droverFailure } from '../../../runtime/failure.ts';
import { cardTypes } from '../../vsphere/observation/devices.ts';
import type { PoolPlaces } from './pool-places.ts';

/** A VsphereAgent whose VM is meant. */
export interface AgentOfVm {
  namespace: string;
  name: string;
  uid: string;
}

export const ownerOf = ({ namespace, name, uid }: AgentOfVm): OwnerReference => ({
  kind: 'VsphereAgent',
  namespacedName: `${namespace}/${name}`,
  uid,
});

const gib = 1_024 ** 3;

interface NewAgentVm {
  agent: AgentOfVm;
  /** Of the VM. */
  name: string;
  pool: Pick<VsphereAgentPool, 'metadata' | 'spec'>;
  /** `[datastore] folder/file.iso`. */
  iso: string;
  places: PoolPlaces & { folder: string };
  /** Empty: it is not known yet. */
  datastore: string;
  /** As drover's settings call the cluster; empty: they do not. */
  cluster: string;
}

/** All that the call that makes the VM of a VsphereAgent says. Pure. @throws InvalidObject naming the field */
export function agentVmSpec({ agent, name, pool, iso, places, datastore, cluster }: NewAgentVm): CreateSpec {
  const { template, vsphere } = pool.spec;
  const what = `pool ${pool.metadata.namespace ?? ''}/${pool.metadata.name}`;
  const { instanceUuid, biosUuid } = vmIdentityOf(agent.uid);
  const marks = [
    { key: agentVmKeys.pool, value: `${pool.metadata.namespace ?? ''}/${pool.metadata.name}` },
    { key: agentVmKeys.poolUid, value: pool.metadata.uid },
    ...(cluster === '' ? [] : [{ key: agentVmKeys.cluster, value: cluster }]),
  ];
  return {
    name,
    instanceUuid,
    uuid: biosUuid,
    source: {
      kind: 'nothing',
      disk: {
        controller: oneOf(scsiControllers, vsphere.scsiType, `spec.vsphere.scsiType of ${what}`),
        eagerlyScrub: vsphere.diskEagerlyScrub === true,
      },
    },
    at: {
      zone: '',
      datacenter: places.datacenter,
      folder: places.folder,
      resourcePool: places.resourcePool,
      datastore,
      host: null,
      cpuMHz: 0,
    },
    bootDiskBytes: template.diskGiB * gib,
    config: {
      numCPUs: template.numCPUs,
      memoryMB: template.memoryMiB,
      guestId: vsphere.guestID,
      firmware: vsphere.firmware,
      // The guest names its disks by their serial numbers.
      extraConfig: [{ key: 'disk.EnableUUID', value: 'TRUE' }, ...marks],
      deviceChange: [
        {
          operation: 'add',
          device: 'networkCard',
          card: {
            key: null,
            type: oneOf(cardTypes, vsphere.networkAdapterType, `spec.vsphere.networkAdapterType of ${what}`),
            backing: places.network,
            macAddress: null,
          },
        },
        {
          operation: 'add',
          device: 'cdrom',
          cdrom: { key: null, iso, connected: true, allowGuestControl: true },
        },
      ],
    },
    classConfigSpec: {},
  };
}

/** Names are taken in any case. @throws InvalidObject */
function oneOf<Name extends string>(names: Readonly<Record<Name, unknown>>, asked: string, field: string): Name {
  const known = Object.keys(names) as Name[];
  const found = known.find((name) => name.toLowerCase() === asked.toLowerCase());
  if (found !== undefined) return found;
  throw droverFailure('InvalidObject', `${asked} in ${field} is nothing that vSphere has: ${known.join(', ')} are`);
}
