import { createLibraryImageActivities } from '../activities/kubernetes/content-library/sync-library-images.ts';
import type { LibraryImageActivities } from '../contracts/virtual-machine/content-library.ts';
import { openObjects } from '../runtime/kubernetes/objects.ts';
import { createStopGate } from '../runtime/stop.ts';
import { virtualMachineSettings } from '../runtime/config/virtual-machine-config.ts';
import type { VcenterSettings } from '../runtime/config/vsphere-settings.ts';
import type { SharedSystems } from './systems.ts';

/**
 * The activities on images of content libraries. They go by the mode of virtual machines, and stop with them.
 *
 * @param vcenters none where the kind is switched off
 */
export function composeLibraryImageActivities(
  { config, kubernetes, audit, clock }: SharedSystems,
  vcenters: readonly VcenterSettings[],
): LibraryImageActivities {
  const { cluster, modes } = config;
  const mode = modes.VirtualMachine === 'act' ? 'act' : 'observe';
  return createLibraryImageActivities({
    objects: openObjects(kubernetes),
    settings:
      modes.VirtualMachine === 'off'
        ? null
        : virtualMachineSettings(config.virtualMachine, { vcenters: vcenters.map(({ name }) => name), cluster, mode }),
    stopGate: createStopGate(
      kubernetes,
      config.kubernetes.systemNamespace,
      { kind: 'VirtualMachine', cluster, region: null },
      clock,
    ),
    audit,
    clock,
  });
}
