import type { Figure } from '../harness/benchmark.ts';

/** How many Nodes a NodePool is scaled to, at once and to and fro. */
export interface AgentCounts {
  agents: number;
  flapping: number;
}

export const usualCounts: AgentCounts = { agents: 50, flapping: 20 };
/** Enough to see that it works. */
export const quickCounts: AgentCounts = { agents: 6, flapping: 4 };

const of =
  (prefix: string, about: string) =>
  (
    id: string,
    what: string,
    unit: string,
    { goal = null, better = 'lower' }: Partial<Pick<Figure, 'goal' | 'better'>> = {},
  ): Figure => ({ id: `${prefix}.${id}`, title: `${about}: ${what}`, unit, better, goal });

export const growPrefix = (count: number): string => `agents-${count}`;

export function growFigures(count: number): Figure[] {
  const figure = of(growPrefix(count), `0 → ${count} agents`);
  return [
    figure('asked', 'NodePool scaled → all AgentMachines wait', 's'),
    figure('on', 'NodePool scaled → last VM on', 's'),
    figure('nodes', 'NodePool scaled → last Node', 's'),
    figure('script', 'a script with the same calls, as many at once: first call → last VM on', 's'),
    figure('ratio', 'drover’s time until the last VM is on ÷ the script’s', '', { goal: 1.3 }),
    figure('serial', 'the same one after another', 's'),
    figure('faster', 'one after another ÷ drover’s time', '', { goal: 5, better: 'higher' }),
    figure('vsphere', 'calls of vCenter for each, until its ISO is out of its drive', 'calls'),
    figure('script-vsphere', 'calls of vCenter for each, by the script, until it is on', 'calls'),
    figure('kubernetes', 'calls of kube-apiserver for each, bridge included', 'calls'),
    figure('events', 'events in histories for each, without the run that takes its ISO out', 'events', { goal: 50 }),
    figure('events-on', 'of them, those of the runs that make it', 'events'),
    figure('events-pool', 'of them, its share of the pool’s', 'events'),
    figure('events-eject', 'besides, events of the run that takes its ISO out', 'events'),
    figure('runs', 'runs of each', 'runs'),
    figure('back', 'NodePool scaled to 0 → last VM gone', 's'),
    figure('uploads', 'uploads of the ISO, all repetitions together', 'uploads', { goal: 1 }),
    figure('worker', 'worker: peak of its resident set', 'MiB'),
    figure('bridge', 'bridge: peak of its resident set', 'MiB'),
  ];
}

export const flapPrefix = (count: number): string => `agents-flapping-${count}`;

export function flapFigures(count: number): Figure[] {
  const figure = of(flapPrefix(count), `0 ↔ ${count} agents`);
  return [
    figure('machines', 'Machines that were made', 'Machines'),
    figure('made', 'VMs that were made', 'VMs'),
    figure('taken', 'of them, those that a Machine took', 'VMs'),
    // What no Machine takes waits for the next one.
    figure('spare', 'of them, those that no Machine took', 'VMs', { goal: count }),
    figure('wasted', 'VMs that no Machine took and that went before their time', 'VMs', { goal: 0 }),
    figure('most', 'most VMs at once', 'VMs'),
    figure('left', 'VMs left at the end, when surplusMs is over', 'VMs', { goal: 0 }),
  ];
}
