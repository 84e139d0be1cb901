import type { MachineDrivers, OpenDriver } from '../../../contracts/machine-safety/driver.ts';
import type { Clock } from '../../../runtime/clock.ts';
import type { OpenStackSettings } from '../../../runtime/config/openstack-settings.ts';
import type { VcenterSettings } from '../../../runtime/config/vsphere-settings.ts';
import { droverFailure } from '../../../runtime/failure.ts';
import type { KeystoneSession } from '../../keystone/types.ts';
import type { Vim } from '../../vsphere/client.ts';
import { openGateway } from '../../vsphere/gateway.ts';
import type { VcenterGateway } from '../../vsphere/types.ts';
import { openOpenStackDriver } from './openstack.ts';
import { readOpenStackClass } from './openstack-class.ts';
import { describeClass } from './read-class.ts';
import { shareSessions } from '../../lib/shared-sessions.ts';
import { openVsphereDriver } from './vsphere.ts';
import { readVsphereClass } from './vsphere-class.ts';

export interface DriverPorts {
  openVcenter: (settings: VcenterSettings) => Vim;
  openCloud: (settings: OpenStackSettings) => KeystoneSession;
  clock: Clock;
}

/** Of each kind that stay open while no class uses them. */
const mostIdle = 32;

export function createMachineDrivers({ openVcenter, openCloud, clock }: DriverPorts): MachineDrivers {
  const vcenters = shareSessions<VcenterGateway>(mostIdle);
  const clouds = shareSessions<KeystoneSession>(mostIdle);
  const providers: Readonly<Record<string, OpenDriver>> = {
    vsphere(machineClass, secret) {
      const of = readVsphereClass(machineClass, secret);
      const { key, settings } = of;
      const open = (): VcenterGateway => openGateway(openVcenter(settings), settings.budget, clock);
      return openVsphereDriver(of, (work) => vcenters.use(key, open, work), clock);
    },
    openstack(machineClass, secret) {
      const of = readOpenStackClass(machineClass, secret);
      const { key, settings } = of;
      return openOpenStackDriver(of, (work) => clouds.use(key, () => openCloud(settings), work), clock);
    },
  };
  return {
    open(machineClass, secret) {
      const name = machineClass.provider.toLowerCase();
      const open = Object.hasOwn(providers, name) ? providers[name] : undefined;
      if (open === undefined)
        throw droverFailure(
          'InvalidObject',
          `${describeClass(machineClass)} is of provider ${machineClass.provider.slice(0, 80) || 'without a name'}, and drover has drivers for vSphere and OpenStack only`,
        );
      return open(machineClass, secret);
    },
    close: async () => void (await Promise.all([vcenters.close(), clouds.close()])),
  };
}
