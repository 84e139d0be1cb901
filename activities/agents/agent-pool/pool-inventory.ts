import type { VcenterSettings } from '../../../runtime/config/vsphere-settings.ts';
import type { Clock } from '../../../runtime/clock.ts';
import type { Vim } from '../../vsphere/client.ts';
import type { DatastoreHttp } from '../../vsphere/datastore-http.ts';
import { openIsoStore } from '../iso/iso-store.ts';
import { isGone } from '../iso/refresh-iso.ts';
import { destroyMarkedVm, listMarkedVms, readFreeSpace } from '../vcenter/marked-vms.ts';
import type { PoolVcenters } from '../vcenter/pool-vcenters.ts';
import type { PoolInventory } from './dependencies.ts';

export interface PoolInventoryPorts {
  vcenters: Pick<PoolVcenters, 'use'>;
  openDatastoreHttp: (settings: VcenterSettings, vim: Vim) => DatastoreHttp;
  clock: Clock;
}

/** What pools ask of their vCenters. */
export const openPoolInventory = ({ vcenters, openDatastoreHttp, clock }: PoolInventoryPorts): PoolInventory => ({
  look: (pool, signal) =>
    vcenters.use(pool, signal, async (vcenter) => {
      const { datacenter, isoDatastore: datastore } = pool.spec.vsphere;
      // Nothing is opened, as no file is written.
      const http = openDatastoreHttp(vcenter.settings, vcenter.vim);
      try {
        const store = await openIsoStore({ gateway: vcenter.gateway, http, clock, signal }, { datacenter, datastore });
        const [vms, space, isIsoGone] = await Promise.all([
          listMarkedVms(vcenter, pool, signal),
          readFreeSpace(vcenter, pool, signal),
          isGone({ pool, store }),
        ]);
        return { vms, space, isIsoGone };
      } finally {
        await http.close();
      }
    }),
  destroy: (tools, pool, vm, cause) =>
    vcenters.use(pool, tools.scope.signal, (vcenter) => destroyMarkedVm({ ...tools, vcenter }, pool, vm, cause)),
});
