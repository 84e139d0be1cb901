import type { LimitFunction } from 'p-limit';

import type { VsphereAgentPool } from '../../../contracts/crds/vsphere-agent-pool.ts';
import type { VcenterSettings } from '../../../runtime/config/vsphere-settings.ts';
import type { KubernetesObjects } from '../../../runtime/kubernetes/objects.ts';
import type { ActivityContext } from '../../lib/context.ts';
import type { Vim } from '../../vsphere/client.ts';
import type { DatastoreHttp } from '../../vsphere/datastore-http.ts';
import type { VcenterGateway } from '../../vsphere/types.ts';
import type { IsoSource } from './iso-source.ts';
import type { IsoStore } from './iso-store.ts';

/** The vCenter of a pool, with the pool's credential. */
export interface IsoVcenter {
  settings: VcenterSettings;
  vim: Vim;
  gateway: VcenterGateway;
}

export interface IsoPorts {
  client: KubernetesObjects;
  source: IsoSource;
  /** Keeps the session open for the work. @throws as a Secret or a vCenter that is none does */
  usePoolVcenter: <Result>(
    pool: VsphereAgentPool,
    signal: AbortSignal,
    work: (vcenter: IsoVcenter) => Promise<Result>,
  ) => Promise<Result>;
  openDatastoreHttp: (settings: VcenterSettings, vim: Vim) => DatastoreHttp;
  /** Which of these files are in a drive of a VM of that vCenter; `unknown`: VMs whose drives it does not know. */
  findUsedIsos: (
    vcenter: IsoVcenter,
    isos: readonly string[],
    signal: AbortSignal,
  ) => Promise<{ used: string[]; unknown: string[] }>;
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
  vcenter: IsoVcenter;
  store: IsoStore;
  cause: string;
}
