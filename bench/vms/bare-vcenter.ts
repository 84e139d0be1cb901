import { readFileSync } from 'node:fs';
import { openVcenter } from '../../activities/vsphere/client.ts';
import { openGateway } from '../../activities/vsphere/gateway.ts';
import { labVcenter } from '../../lab/drover.ts';
import { govc } from '../../lab/vsphere/govc.ts';
import type { VsphereHandle } from '../../lab/vsphere/handle.ts';
import { inventory } from '../../lab/vsphere/handle.ts';
import { systemClock } from '../../runtime/clock.ts';
import { virtualMachineConfig } from '../../runtime/config/virtual-machine-config.ts';
import type { VcenterGateway } from '../../activities/vsphere/types.ts';
import type { BarePlaces } from './bare-script.ts';
import { makeByScript, removeByScript } from './bare-script.ts';

/** The lab's vCenter, as the script uses it: in this process, in a folder of its own. */
export interface BareVcenter {
  make(names: readonly string[], signal: AbortSignal): Promise<number[]>;
  remove(names: readonly string[], signal: AbortSignal): Promise<void>;
  /** Requests so far. */
  calls(): number;
  close(): Promise<void>;
}

const folderName = 'bare';

/**
 * As many creates at once as drover by its defaults, and as many calls; but no limit of calls in a second: a script in
 * a hurry has none.
 */
export const { creates } = virtualMachineConfig.parse(undefined);
const budget = { calls: 8, callsPerSecond: 1_000, tasks: 4 * creates };

/** The lab's vCenter as a script reaches it, and how often it was called. */
export interface ScriptVcenter {
  gateway: VcenterGateway;
  readonly calls: () => number;
}

export function openScriptVcenter(handle: VsphereHandle): ScriptVcenter {
  let count = 0;
  const vim = openVcenter(
    {
      name: labVcenter,
      url: handle.url,
      credential: () =>
        Promise.resolve({ username: handle.username, password: readFileSync(handle.passwordFile, 'utf8') }),
      ca: readFileSync(handle.caFile, 'utf8'),
      thumbprint: null,
      budget,
      places: { zones: {}, storagePolicies: {}, networks: {} },
    },
    { clock: systemClock, observe: () => void (count += 1) },
  );
  return { gateway: openGateway(vim, budget, systemClock), calls: () => count };
}

export async function openBareVcenter(handle: VsphereHandle): Promise<BareVcenter> {
  const { gateway, calls } = openScriptVcenter(handle);
  await govc(handle, 'folder.create', `${inventory.vmFolder}/${folderName}`);
  const idOf = async (path: string): Promise<string> =>
    (await gateway.findByPath(path, AbortSignal.timeout(10_000)))?.value ??
    Promise.reject(new Error(`the lab's vCenter has no ${path}`));
  const places: BarePlaces = {
    folder: await idOf(`${inventory.vmFolder}/${folderName}`),
    resourcePool: await idOf(inventory.resourcePool),
    datastore: await idOf(inventory.datastores[0]),
    datacenter: await idOf(`/${inventory.datacenter}`),
    template: await idOf(inventory.template),
  };
  return {
    make: (names, signal) => makeByScript(gateway, places, names, { creates, signal }),
    remove: (names, signal) => removeByScript(gateway, places, names, signal),
    calls,
    close: () => gateway.close(),
  };
}
