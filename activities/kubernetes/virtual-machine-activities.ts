import type { ObjectName } from '../../contracts/virtual-machine-plan.ts';
import type { GuestSetup } from '../../contracts/virtual-machine-bootstrap.ts';
import type { VirtualMachineObjectActivities } from '../../contracts/virtual-machine-activities.ts';
import type { BootstrapKind } from '../../contracts/virtual-machine-lifecycle.ts';
import { systemClock } from '../nova/wait.ts';
import { ensureImageCache } from './ensure-image-cache.ts';
import { patchVirtualMachine } from './patch-virtual-machine.ts';
import { publishVirtualMachine } from './publish-virtual-machine.ts';
import { readBootstrap } from './read-bootstrap.ts';
import { readVirtualMachine } from './read-virtual-machine.ts';
import { currentKubernetesScope } from './scope.ts';
import type { VirtualMachineClient } from './virtual-machine-client.ts';
import type { VirtualMachineObjectDependencies, VirtualMachineTools } from './virtual-machine-dependencies.ts';

/** The activities on VirtualMachines and what they name, on queue `kubernetes`. */
export function createVirtualMachineObjectActivities({ scope = currentKubernetesScope, clock = systemClock, ...rest }: VirtualMachineObjectDependencies): VirtualMachineObjectActivities {
  const tools = (): VirtualMachineTools => ({ ...rest, clock, scope: scope() });
  return {
    readVirtualMachine: (input) => readVirtualMachine(tools(), input),
    patchVirtualMachine: (request) => patchVirtualMachine(tools(), request),
    ensureImageCache: (request) => ensureImageCache(tools(), request),
    publishVirtualMachine: (report) => publishVirtualMachine(tools(), report),
  };
}

/** What an activity of vSphere asks for the Secrets of a bootstrap, in the same process: no activity of its own, or they would be in the history. */
export type ReadBootstrap = (object: ObjectName, kind: BootstrapKind | null, signal: AbortSignal) => Promise<GuestSetup>;

export const createReadBootstrap =
  (client: VirtualMachineClient): ReadBootstrap =>
  (object, kind, signal) =>
    readBootstrap(client, object, kind, signal);
