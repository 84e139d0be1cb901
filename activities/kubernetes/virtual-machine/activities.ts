import type { VirtualMachineObjectActivities } from '../../../contracts/virtual-machine/activities.ts';
import type { ReadBackup } from '../../../contracts/virtual-machine/backup.ts';
import type { ReadBootstrap } from '../../../contracts/virtual-machine/bootstrap.ts';
import type { KubernetesObjects } from '../../../runtime/kubernetes/objects.ts';
import { contextOf } from '../../lib/context.ts';
import { changeVolumes } from './change-volumes.ts';
import type { VirtualMachineObjectDependencies, VirtualMachineTools } from './dependencies.ts';
import { ensureImageCache } from './ensure-image-cache.ts';
import { ensurePolicyEvaluation } from './ensure-policy-evaluation.ts';
import { patchVirtualMachine } from './patch-virtual-machine.ts';
import { publishVirtualMachine } from './publish-virtual-machine.ts';
import { readBackup } from './read-backup.ts';
import { type BootstrapTools, readBootstrap } from './read-bootstrap.ts';
import { readVirtualMachine } from './read-virtual-machine.ts';

/** The activities on VirtualMachines and what they name, on queue `kubernetes`. */
export function createVirtualMachineObjectActivities(
  dependencies: VirtualMachineObjectDependencies,
): VirtualMachineObjectActivities {
  const tools = (): VirtualMachineTools => contextOf(dependencies);
  return {
    readVirtualMachine: (input) => readVirtualMachine(tools(), input),
    patchVirtualMachine: (request) => patchVirtualMachine(tools(), request),
    ensureImageCache: (request) => ensureImageCache(tools(), request),
    changeVolumes: (request) => changeVolumes(tools(), request),
    ensurePolicyEvaluation: (request) => ensurePolicyEvaluation(tools(), request),
    publishVirtualMachine: (report) => publishVirtualMachine(tools(), report),
  };
}

/** What the activities of vSphere ask of Kubernetes in the same process. */

export const createReadBootstrap =
  (tools: BootstrapTools): ReadBootstrap =>
  (object, kind, signal) =>
    readBootstrap(tools, object, kind, signal);

export const createReadBackup =
  (client: KubernetesObjects): ReadBackup =>
  (object, signal) =>
    readBackup(client, object, signal);
