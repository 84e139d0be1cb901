import { govc, govcJson } from './govc.ts';
import type { VsphereHandle } from './handle.ts';
import { inventory } from './handle.ts';

/** A VM as vCenter has it, by govc. */
export interface ListedVm {
  /** `vm-61`. */
  id: string;
  name: string;
  powerState: string;
  cpus: number;
  memoryMiB: number;
  instanceUuid: string;
  biosUuid: string;
  macAddresses: string[];
  /** Of its drives, `[LocalDS_0] agent-forge/a.iso`. */
  isos: string[];
  /** Of ExtraConfig. */
  extraConfig: Record<string, string>;
  /** `[LocalDS_0] web/disk1.vmdk`. */
  disks: string[];
  /** Changes with every change of its configuration. */
  changeVersion: string;
}

interface Info {
  virtualMachines:
    | null
    | {
        self: { value: string };
        name: string;
        runtime: { powerState: string };
        config: {
          instanceUuid: string;
          uuid: string;
          changeVersion: string;
          hardware: {
            numCPU: number;
            memoryMB: number;
            device: { backing?: { fileName?: string }; capacityInBytes?: number; macAddress?: string }[];
          };
          extraConfig?: { key: string; value: unknown }[];
        };
      }[];
}

/**
 * The VMs in a folder and below it, as an independent client reads them.
 *
 * @param folder a child of the datacenter's VM folder; default: all VMs
 */
export async function listVms(vsphere: VsphereHandle, folder?: string): Promise<ListedVm[]> {
  const below = folder === undefined ? inventory.vmFolder : `${inventory.vmFolder}/${folder}`;
  const paths = (await govc(vsphere, 'find', below, '-type', 'm')).split('\n').filter((path) => path !== '');
  if (paths.length === 0) return [];
  const { virtualMachines } = await govcJson<Info>(vsphere, 'vm.info', '-e', ...paths);
  return (virtualMachines ?? []).map(
    ({ self, name, runtime, config: { instanceUuid, uuid, changeVersion, hardware, extraConfig = [] } }) => ({
      id: self.value,
      name,
      powerState: runtime.powerState,
      cpus: hardware.numCPU,
      memoryMiB: hardware.memoryMB,
      instanceUuid,
      biosUuid: uuid,
      macAddresses: hardware.device.flatMap(({ macAddress }) => macAddress ?? []),
      isos: hardware.device.flatMap(({ backing, capacityInBytes }) =>
        capacityInBytes === undefined && backing?.fileName?.endsWith('.iso') === true ? [backing.fileName] : [],
      ),
      changeVersion,
      extraConfig: Object.fromEntries(extraConfig.map(({ key, value }) => [key, String(value)])),
      // The simulator leaves out the size of a disk that was there before it was attached.
      disks: hardware.device.flatMap(({ backing: { fileName = '' } = {}, capacityInBytes }) =>
        capacityInBytes === undefined && !fileName.endsWith('.vmdk') ? [] : [fileName],
      ),
    }),
  );
}
