import type { LimitFunction } from 'p-limit';

import type { VsphereAgentPool } from '../../../contracts/crds/vsphere-agent-pool.ts';
import type { VcenterSettings } from '../../../runtime/config/vsphere-settings.ts';
import type { KubernetesObjects } from '../../../runtime/kubernetes/objects.ts';
import type { ActivityContext } from '../../lib/context.ts';
import type { Vim } from '../../vsphere/client.ts';
import type { DatastoreHttp } from '../../vsphere/datastore-http.ts';
import type { PoolVcenter, PoolVcenters } from '../vcenter/pool-vcenters.ts';
import type { IsoSource } from './iso-source.ts';
import type { IsoStore } from './iso-store.ts';

export interface IsoPorts {
  client: KubernetesObjects;
  source: IsoSource;
  vcenters: Pick<PoolVcenters, 'use'>;
  openDatastoreHttp: (settings: VcenterSettings, vim: Vim) => DatastoreHttp;
}

export type IsoTools = IsoPorts &
  ActivityContext & {
    /** What is done in one datastore, one after another. */
    turnOf: (store: string) => LimitFunction;
    /** When all VMs were last asked for their drives, by the uid of the pool. */
    scannedMs: Map<string, number>;
  };

/** One pool, and where its ISOs are. */
export interface PoolOfIso {
  pool: VsphereAgentPool;
  vcenter: PoolVcenter;
  store: IsoStore;
  cause: string;
}
