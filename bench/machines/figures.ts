import type { Provider } from '../../lab/machines.ts';
import type { Figure } from '../harness/benchmark.ts';

/** How many VMs a vCenter has, and how many servers a project, that each belong to a Machine. */
export interface MachineCounts {
  vms: number;
  servers: number;
}

export const usualCounts: MachineCounts = { vms: 10_000, servers: 500 };
/** Enough to see that it works. */
export const quickCounts: MachineCounts = { vms: 250, servers: 6 };

/** Of docs/limits.md: a sweep that finds nothing. */
export const mostEvents = 60;
/** VMs in one answer of vCenter. */
const pageSize = 200;

/** Of each provider: what it has, and what it is called in metrics. */
export const providers = {
  vsphere: { things: 'VMs', system: 'vsphere', title: 'vCenter' },
  openstack: { things: 'servers', system: 'nova', title: 'Nova' },
} as const satisfies Record<Provider, object>;

const of =
  (prefix: string, about: string) =>
  (id: string, what: string, unit: string, goal: number | null = null): Figure => ({
    id: `${prefix}.${id}`,
    title: `${about}: ${what}`,
    unit,
    better: 'lower',
    goal,
  });

export const sweepPrefix = (provider: Provider, count: number): string => `machines-${count}-${provider}`;

export function sweepFigures(provider: Provider, count: number): Figure[] {
  const { things, title } = providers[provider];
  const figure = of(sweepPrefix(provider, count), `sweep of ${count} ${things}, each with its Machine`);
  return [
    figure('wall', 'start of the run → its end', 's'),
    // A page each, the folder, and the login of the first one.
    figure('calls', `calls of ${title}`, 'calls', provider === 'vsphere' ? Math.ceil(count / pageSize) + 4 : null),
    figure('events', 'events in its history', 'events', mostEvents),
    figure('before', 'worker: resident set before the first one', 'MiB'),
    figure('worker', 'worker: peak of its resident set', 'MiB'),
  ];
}

const outage = of('machines-outage', 'API server of the Nodes cut off');
export const outageFigures: Figure[] = [
  outage('unknown', 'until a run that is about to delete is told that Machines are not known to be thawed', 's'),
  outage('frozen', 'until the run’s memo says that they are frozen', 's'),
  outage('ratio', 'first probe that failed → frozen in the memo, ÷ apiServers.timeoutMs', '', 1.3),
  outage('thawed', 'mended → thawed in the memo', 's'),
];

const orphan = of('machines-orphan', 'an orphan VM that is on');
export const orphanFigures: Figure[] = [
  orphan('gone', 'start of the sweep that is the second to see it → gone from vCenter', 's'),
  orphan('events', 'events in the history of that sweep', 'events'),
];
