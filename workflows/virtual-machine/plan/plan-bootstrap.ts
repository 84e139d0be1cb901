import { extraConfigKeys, virtualMachineAnnotations } from '../../../contracts/virtual-machine/marks.ts';
import type { Outcome } from '../../../contracts/virtual-machine/plan.ts';
import type { VmContext } from '../step.ts';
import { act, stop, success } from '../step.ts';

/**
 * Sets up the guest: what goes into the VM's configuration whenever it has changed, a customization while the VM is off. Each is applied once
 * per change, or once more at the next power-on where the spec asks for that. Source: vm-and-machine.md A.7, bootstrap.
 */
export function planBootstrap({ desired, observed, vm }: VmContext): Outcome {
  const { bootstrap, bootstrapHashes: done } = desired;
  const fetched = observed.prerequisites.bootstrap;
  if (bootstrap.disabled || fetched === null || vm.config === null) return success;
  if (fetched.kind !== 'found') return stop('BootstrapNotReady', fetched.message);
  const { missingKeys, configHash, customHash } = fetched.value;
  if (missingKeys.length > 0)
    return stop('RequiredKeyNotFound', `There is no ${missingKeys.join(', ')} in the Secrets of the bootstrap`);

  const { moId } = vm;
  if (configHash !== null && configHash !== done.config) {
    return act(
      'config',
      [
        `Write the ${bootstrap.kind ?? 'bootstrap'} data into ${desired.name}`,
        { do: 'bootstrap', moId, part: 'config', hash: configHash },
      ],
      [
        'Note which bootstrap data were written',
        {
          do: 'patchVirtualMachine',
          patches: [{ annotations: { [virtualMachineAnnotations.bootstrapConfigHash]: configHash } }],
        },
      ],
    );
  }
  const isPending = (vm.config.extraConfig[extraConfigKeys.deployPackage] ?? '') !== '';
  // A customization is done by the next start; one that waits for that already is not replaced.
  if (customHash === null || vm.powerState !== 'poweredOff' || isPending) return success;
  const isDue = bootstrap.atNextPowerOn ?? customHash !== done.custom;
  if (!isDue) return success;
  const latch =
    bootstrap.atNextPowerOn === true && bootstrap.kind !== null
      ? {
          spec: {
            bootstrap: {
              [bootstrap.kind === 'LinuxPrep' ? 'linuxPrep' : 'sysprep']: { customizeAtNextPowerOn: false },
            },
          },
        }
      : {};
  return act(
    'config',
    [`Have ${desired.name} customized at its next start`, { do: 'bootstrap', moId, part: 'custom', hash: customHash }],
    [
      'Note which customization was asked for',
      {
        do: 'patchVirtualMachine',
        patches: [{ annotations: { [virtualMachineAnnotations.bootstrapCustomHash]: customHash }, ...latch }],
      },
    ],
  );
}
