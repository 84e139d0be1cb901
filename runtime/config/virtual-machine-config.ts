import { z } from 'zod';

import type { VirtualMachineSettings } from '../../contracts/virtual-machine/lifecycle.ts';
import { droverFailure } from '../failure.ts';
import { count, hour, minute, ms, optionalText, second } from './setting-types.ts';
import { readVersion } from '../version.ts';

/** The section `virtualMachine` of drover's settings. What each switch leaves out: docs/virtual-machine.md. */
export const virtualMachineConfig = z
  .strictObject({
    vcenter: optionalText,
    fastDeploy: z.enum(['auto', 'direct', 'linked']).nullable().default('auto'),
    imageCacheMs: ms(5 * minute, { most: hour }),
    asyncCreate: z.boolean().default(true),
    asyncSignal: z.boolean().default(true),
    resize: z.enum(['off', 'size', 'all']).default('size'),
    groups: z.boolean().default(true),
    backup: z.boolean().default(false),
    creates: count(16, 640),
    destroys: count(16, 640),
    softPowerMs: ms(5 * minute, { most: hour }),
    deletePowerOffMs: ms(5 * minute, { most: hour }),
    toolsMs: ms(5 * minute, { most: hour }),
    addressMs: ms(10 * minute),
    recheckMs: ms(30 * second, { most: hour }),
    slotRenewMs: ms(5 * minute, { most: hour }),
    taskMs: ms(hour),
    lingerMs: ms(2 * second, { least: 0, most: minute }),
  })
  .prefault({});

export type VirtualMachineConfig = z.infer<typeof virtualMachineConfig>;

/**
 * The settings of one run, fixed in it when it opens.
 *
 * @param given.vcenters names of all that drover speaks to
 * @throws InvalidConfiguration where it is not clear which of them has the VMs
 */
export function virtualMachineSettings(
  config: VirtualMachineConfig,
  { vcenters, cluster, mode }: Pick<VirtualMachineSettings, 'cluster' | 'mode'> & { vcenters: readonly string[] },
): VirtualMachineSettings {
  // What is shared among runs is no run's own.
  const { vcenter, creates: _, destroys: __, recheckMs: pollMs, ...own } = config;
  return {
    ...own,
    pollMs,
    recheckMs: hour,
    publishMinMs: 2 * second,
    vcenter: chooseVcenter(vcenter, vcenters),
    cluster,
    mode,
    buildVersion: readVersion(),
  };
}

function chooseVcenter(chosen: string | null, vcenters: readonly string[]): string {
  const [only, ...others] = vcenters;
  if (chosen !== null && vcenters.includes(chosen)) return chosen;
  if (chosen !== null)
    throw droverFailure(
      'InvalidConfiguration',
      `virtualMachine.vcenter: there is no vCenter ${chosen}; vsphere.vcenters has ${vcenters.join(', ') || 'none'}`,
    );
  if (only === undefined)
    throw droverFailure(
      'InvalidConfiguration',
      'virtualMachine: VirtualMachines need a vCenter. Describe one in vsphere.vcenters, or set GOVC_URL.',
    );
  if (others.length > 0)
    throw droverFailure(
      'InvalidConfiguration',
      `virtualMachine.vcenter: say which vCenter has the VMs: ${vcenters.join(', ')}`,
    );
  return only;
}
