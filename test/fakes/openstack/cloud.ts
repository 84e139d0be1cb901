import type { ApiCall, MigrationEvent } from '../../../lab/openstack/journal.ts';
import type { VirtualClock } from '../../simulator/clock.ts';
import { runIn, startProcess } from '../../simulator/process.ts';
import { uuidFrom } from '../uuid.ts';
import { seedModel } from './seed-model.ts';
import type { ComputeHost, Model } from './model.ts';

export type ServiceKey = 'keystone' | 'nova' | 'placement' | 'glance' | 'cinder';

/** The simulated OpenStack at work: its state, its time, its ids. */
export interface Cloud {
  readonly region: string;
  readonly model: Model;
  readonly clock: VirtualClock;
  readonly random: () => number;
  readonly journal: {
    readonly calls: Record<ServiceKey, ApiCall[]>;
    readonly pending: Record<ServiceKey, Set<ApiCall>>;
    readonly migrations: MigrationEvent[];
  };
  nowMs(): number;
  uuid(): string;
  /** A number that was not given yet, from 1 on. */
  next(series: 'migration' | 'aggregate' | 'token' | 'request'): number;
  /** In the cloud's own process: no worker's death keeps it from happening. */
  after(delayMs: number, action: () => void): void;
  /** After the time that a message and a little work take: 10 to 60 ms. */
  soon(action: () => void): void;
  /** As {@link soon}, unless that nova-compute has died by then. */
  soonOn(host: ComputeHost, action: () => void): void;
  /** Sends a message to a nova-compute that unknownId waits for. A dead one's successor gets it. */
  cast(host: ComputeHost, action: () => void): void;
}

const fastestMs = 10;
const slowestMs = 60;

export function createCloud({
  clock,
  random,
  region,
}: {
  clock: VirtualClock;
  random: () => number;
  region: string;
}): Cloud {
  const process = startProcess('openstack');
  const counts = { migration: 0, aggregate: 0, token: 0, request: 0 };
  const after = (delayMs: number, action: () => void): void => void runIn(process, () => clock.after(delayMs, action));
  const latencyMs = (): number => fastestMs + random() * (slowestMs - fastestMs);
  const uuid = (): string => uuidFrom(random);
  return {
    region,
    model: seedModel(uuid),
    clock,
    random,
    journal: {
      calls: { keystone: [], nova: [], placement: [], glance: [], cinder: [] },
      pending: { keystone: new Set(), nova: new Set(), placement: new Set(), glance: new Set(), cinder: new Set() },
      migrations: [],
    },
    nowMs: () => clock.now(),
    uuid,
    next: (series) => (counts[series] += 1),
    after,
    soon: (action) => after(latencyMs(), action),
    soonOn: (host, action) => {
      const { incarnation } = host;
      after(latencyMs(), () => {
        if (host.incarnation === incarnation) action();
      });
    },
    cast: (host, action) => after(latencyMs(), () => (host.isRunning ? action() : void host.mailbox.push(action))),
  };
}

/** As Nova writes times into records: UTC without saying so. */
export const novaTime = (ms: number): string => new Date(ms).toISOString().replace('Z', '000');

/** As Nova writes times into servers. */
export const serverTime = (ms: number): string => new Date(ms).toISOString().replace(/\.\d+Z$/u, 'Z');
