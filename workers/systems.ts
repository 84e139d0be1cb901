import type { Client } from '@temporalio/client';
import type { KeystoneSession } from '../activities/keystone/types.ts';
import type { WatchMeter } from '../activities/vsphere/watch/tools.ts';
import type { AllowanceWorld } from '../contracts/allowance.ts';
import type { Audit } from '../runtime/audit.ts';
import type { Config } from '../runtime/config-schema.ts';
import type { Kubernetes } from '../runtime/kubernetes.ts';
import type { Logger } from '../runtime/logging.ts';
import type { ObserveCall } from '../runtime/outside-calls.ts';

/** What all activities of one worker process share. */
export interface SharedSystems {
  config: Config;
  temporal: Client;
  kubernetes: Kubernetes;
  audit: Audit;
  logger: Logger;
  /** Told of every call of vCenters and of the systems on the hosts. */
  observe?: ObserveCall;
  watchMeter: WatchMeter;
  /** Aborted when this worker is about to stop. */
  leaving: AbortSignal;
}

/** What those share that speak to OpenStack. */
export interface Systems extends SharedSystems {
  openstack: KeystoneSession;
  /** Told of what each look at a region's migrations finds. */
  onLook?: (region: string, world: AllowanceWorld) => void;
}
