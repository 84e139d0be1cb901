import { ApplicationFailure } from '@temporalio/common';

import { createNovaClient } from '../../activities/nova/client.ts';
import type { Registration } from '../../activities/nova/find-registration.ts';
import { createHypervisorActivities } from '../fixtures/activities/hypervisor-region.ts';
import { createPlacementClient } from '../../activities/placement/client.ts';
import { labClock } from '../../lab/clock.ts';
import type { AuditEntry } from '../../runtime/telemetry/audit.ts';
import { until } from '../flows/until.ts';
import type { OpenStackCounterpart } from './openstack.ts';

export const never = new AbortController().signal;
export const deadlineMs = 120_000;
export const unknownId = '00000000-0000-4000-8000-000000000000';

/** The host that comes and goes; it is in no fleet when the counterpart starts. */
export const host = 'node-9';

/** What drover does with a host, as one attempt after another of the same worker would run it. */
export function openHypervisorActivities({ connect }: OpenStackCounterpart) {
  const audited: AuditEntry[] = [];
  const clock = labClock();
  const scope = () => ({
    signal: never,
    deadlineMs: clock.now() + deadlineMs,
    heartbeatDetails: undefined,
    run: { workflowId: 'hypervisor/node-9', runId: 'test' },
    heartbeat: () => {},
    scheduledMs: 0,
    waitedMs: 0,
    warn: () => undefined,
  });
  const session = connect();
  const placement = createPlacementClient(session);
  const audit = { record: async (entry: AuditEntry) => void audited.push(entry) };
  const drover = createHypervisorActivities({
    nova: createNovaClient(session),
    placement,
    stopGate: async () => {},
    audit,
    scope,
    clock,
  });
  return { drover, placement, audited };
}

export type HypervisorActivities = ReturnType<typeof createHypervisorActivities>;

/** Traits that a test may leave on the host's provider. */
const traits = ['CUSTOM_LAB', 'CUSTOM_DROVER_FAST', 'CUSTOM_DROVER_GPU', 'CUSTOM_FOREIGN'];

/** The host as a new one that has registered. */
export async function newHost(
  { fleet }: OpenStackCounterpart,
  drover: HypervisorActivities,
): Promise<Registration & { hypervisor: NonNullable<Registration['hypervisor']> }> {
  const { [host]: known } = await fleet.hosts();
  if (known === undefined) await fleet.change(host, {});
  else if (!known.running) await fleet.reinstall(host);
  const registered = await until('the host to register', deadlineMs, async () => {
    const found = await drover.findRegistration({ hypervisor: host });
    if (found === null || found.hypervisor === null || found.service.state !== 'up') return JSON.stringify(found);
    return { ...found, hypervisor: found.hypervisor };
  });
  await drover.ensureTraits({ providerId: registered.hypervisor.id, wanted: [], owned: traits });
  return registered;
}

/** Tries again what may be tried again. */
export async function asTemporalWould<Result>(attempt: () => Promise<Result>): Promise<Result> {
  const result = await until('an attempt that succeeds or is final', deadlineMs, async () => {
    try {
      return { value: await attempt() };
    } catch (error) {
      if (error instanceof ApplicationFailure && error.nonRetryable !== true) return error.message;
      return { error };
    }
  });
  if ('error' in result) throw result.error;
  return result.value;
}

export const isoNow = (): string => new Date(labClock().now()).toISOString();

/** Names. */
export async function aggregatesOf({ admin }: OpenStackCounterpart, name: string): Promise<string[]> {
  const { aggregates } = await admin.compute<{ aggregates: { name: string; hosts: string[] }[] }>(
    'GET',
    '/os-aggregates',
  );
  return aggregates
    .filter(({ hosts }) => hosts.includes(name))
    .map((aggregate) => aggregate.name)
    .toSorted();
}
