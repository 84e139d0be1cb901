import { maintenanceReasonPrefix, replacedMaintenanceReasonPrefix } from '../../contracts/ids.ts';
import type { HypervisorObservation, MaintenanceMode, NovaHost } from '../../contracts/hypervisor/hypervisor.ts';
import type { Step } from './step.ts';

/** What Nova writes when new services start disabled (`enable_new_services`): nobody's wish. */
const novaDefault = 'New compute service disabled due to config option.';

/** Whose disable it is, by the reason that Nova shows. Only what is not a stranger's may be lifted. */
export type DisabledBy = 'nobody' | 'maintenance' | 'novaDefault' | 'stranger';

export function disabledBy({ service }: Pick<NovaHost, 'service'>): DisabledBy {
  const { status, disabledReason } = service;
  if (status === 'enabled') return 'nobody';
  if (
    disabledReason?.startsWith(maintenanceReasonPrefix) ||
    disabledReason?.startsWith(replacedMaintenanceReasonPrefix)
  )
    return 'maintenance';
  return disabledReason === novaDefault ? 'novaDefault' : 'stranger';
}

/** Whether the host is still disabled for a maintenance that drover, or the operator before it, put it in. */
export const isReturning = ({ nova }: Pick<HypervisorObservation, 'nova'>): boolean =>
  nova !== null && disabledBy(nova) === 'maintenance';

/** What Nova shows while a Hypervisor is in maintenance. */
export const maintenanceReason = (mode: MaintenanceMode, words: string | null): string =>
  `${maintenanceReasonPrefix}${mode}${words === null || words === '' ? '' : `: ${words}`}`;

export const enabling = (nova: NovaHost): Step => ({
  do: 'enableService',
  host: nova.host,
  carrying: nova.service.disabledReason,
  words: `Enable ${nova.host} in Nova`,
});

export const disabling = (nova: NovaHost, reason: string): Step => ({
  do: 'disableService',
  host: nova.host,
  reason,
  words: `Disable ${nova.host} in Nova: ${reason}`,
});

/** How many of each are still on the host, as people read it; empty when nothing is. */
export function remainsOn({ servers, migrations, unconfirmedResizes, allocations }: NovaHost): string[] {
  const count = (number: number, one: string, many: string): string[] =>
    number === 0 ? [] : [`${number} ${number === 1 ? one : many}`];
  return [
    ...count(servers, 'server', 'servers'),
    ...count(migrations, 'migration in progress', 'migrations in progress'),
    ...count(unconfirmedResizes, 'unconfirmed resize', 'unconfirmed resizes'),
    ...count(allocations, 'allocation in Placement', 'allocations in Placement'),
  ];
}
