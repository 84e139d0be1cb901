import { drivesOf } from '../../../contracts/virtual-machine/older-versions.ts';
import { isFields } from './field-set.ts';
import type { Draft } from './stored-object.ts';

interface Drive {
  image: { kind: string; name: string };
}

interface Spec {
  powerState?: string;
  image?: object;
  hardware?: { cdrom?: Drive[] };
  /** Before v1alpha5. */
  cdrom?: Drive[];
  network?: { disabled?: boolean; interfaces?: object[] };
}

/**
 * The MutatingAdmissionPolicy of deploy/admission/virtual-machines.yaml: what is filled in when a
 * VirtualMachine is made.
 */
export function withVirtualMachineDefaults(made: Draft): Draft {
  if (!isFields(made['spec'])) return made;
  const { powerState = 'PoweredOn', image, hardware, network = {}, ...spec } = made['spec'] as Spec;
  const [cdrom] = drivesOf({ hardware, cdrom: spec.cdrom });
  const bootedFrom = image ?? (cdrom && { kind: cdrom.image.kind, name: cdrom.image.name });
  const isConnected = network.disabled !== true && network.interfaces === undefined;
  return {
    ...made,
    spec: {
      ...spec,
      powerState,
      ...(hardware !== undefined && { hardware }),
      ...(bootedFrom !== undefined && { image: bootedFrom }),
      network: isConnected ? { ...network, interfaces: [{ name: 'eth0' }] } : network,
    },
  };
}
