import type { Client } from '@temporalio/client';
import type { KeystoneSession } from '../activities/keystone/types.ts';
import type { AllowanceWorld } from '../contracts/allowance.ts';
import type { Audit } from '../runtime/audit.ts';
import type { Config } from '../runtime/config-schema.ts';
import type { Kubernetes } from '../runtime/kubernetes.ts';
import type { Logger } from '../runtime/logging.ts';
import type { ObserveCall } from '../runtime/outside-calls.ts';

/** What the activities of one worker process share. */
export interface Systems {
  config: Config;
  temporal: Client;
  kubernetes: Kubernetes;
  openstack: KeystoneSession;
  audit: Audit;
  logger: Logger;
  /** Told of what each look at a region's migrations finds. */
  onLook?: (region: string, world: AllowanceWorld) => void;
  /** Told of every call of the systems on the hosts. */
  observe?: ObserveCall;
}
