import type { SessionOptions } from '../../activities/keystone/client.ts';
import type { KeystoneSession } from '../../activities/keystone/types.ts';
import type { Fleet } from '../../lab/openstack/fleet.ts';
import type { CloudName } from '../../lab/openstack/handle.ts';
import type { ApiCall, MigrationEvent } from '../../lab/openstack/journal.ts';
import type { Session } from '../../lab/openstack/session.ts';
import type { OpenStackSettings } from '../../runtime/config/openstack-settings.ts';

/**
 * An OpenStack that a contract runs on: the lab's, or the simulated one. Its hosts are node-1 to node-6, it has no
 * servers, and every test has it like that.
 */
export interface OpenStackCounterpart {
  readonly admin: Session;
  readonly fleet: Fleet;
  readonly settings: (cloud?: CloudName) => OpenStackSettings;
  /** A session of drover's; the counterpart closes it. */
  readonly connect: (settings?: Partial<OpenStackSettings>, clock?: SessionOptions['clock']) => KeystoneSession;
  readonly apiCalls: (service: 'keystone' | 'nova' | 'placement', sinceMs: number) => ApiCall[];
  readonly migrationEvents: (sinceMs: number) => MigrationEvent[];
}

/** Declares a test of a contract: the body runs in the time of the counterpart (`labClock`). */
export type ContractTest = (
  name: string,
  body: (counterpart: OpenStackCounterpart) => Promise<void>,
  timeoutMs?: number,
) => void;
