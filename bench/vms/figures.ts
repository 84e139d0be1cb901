import type { Figure } from '../harness/benchmark.ts';

/** How many VMs are made, and how many idle ones there are. */
export interface VmCounts {
  vms: number;
  idle: number;
}

export const usualCounts: VmCounts = { vms: 200, idle: 2_000 };
/** Enough to see that it works. */
export const quickCounts: VmCounts = { vms: 10, idle: 30 };

/**
 * Of the vCenter's tasks, while VMs are made: as they are in the simulator, and as long as a linked clone and a
 * power-on take.
 */
export const paces = {
  create: { title: 'clones of 5 s', taskDelaysMs: { CloneVm: 5_000, PowerOn: 1_000 } },
  instant: { title: 'clones of no time', taskDelaysMs: {} },
} as const;
export type Pace = keyof typeof paces;

const of =
  (prefix: string, about: string) =>
  (id: string, what: string, unit: string, goal: number | null = null): Figure => ({
    id: `${prefix}.${id}`,
    title: `${about}: ${what}`,
    unit,
    better: 'lower',
    goal,
  });

export function createFigures(pace: Pace, count: number): Figure[] {
  const figure = of(`vms-${count}-${pace}`, `${count} VMs, ${paces[pace].title}`);
  return [
    figure('wall', 'first object created → last VM on and reconciled', 's'),
    figure('p50', 'object created → on and reconciled, p50', 's'),
    figure('p99', 'object created → on and reconciled, p99', 's'),
    figure('bare', 'the same by a bare script', 's'),
    figure('ratio', 'drover’s time ÷ the script’s', '', pace === 'create' ? 1.3 : null),
    figure('vsphere', 'calls of vCenter for each', 'calls'),
    figure('bare-vsphere', 'calls of vCenter for each, by the script', 'calls'),
    figure('kubernetes', 'calls of kube-apiserver for each, bridge included', 'calls'),
    figure('events', 'events in the histories of each', 'events'),
    figure('runs', 'runs of each', 'runs'),
    figure('worker', 'worker: peak of its resident set', 'MiB'),
    figure('bridge', 'bridge: peak of its resident set', 'MiB'),
    figure('drover-cpu', 'processor time of worker and bridge for each', 's'),
    figure('others-cpu', 'processor time of Temporal, Kubernetes’ control plane and vCenter for each', 's'),
    figure('floor', 'that of the others alone, on all processors, ÷ the script’s time', ''),
  ];
}

export function idleFigures(count: number): Figure[] {
  const figure = of(`vms-idle-${count}`, `${count} idle VMs`);
  return [
    figure('worker', 'worker: resident set', 'MiB'),
    figure('bridge', 'bridge: resident set', 'MiB'),
    figure('resync-bridge-cpu', 'bridge: processor time between two resyncs', 's'),
    figure('resync-worker-cpu', 'worker: processor time between two resyncs', 's'),
    figure('resync-vsphere', 'calls of vCenter between two resyncs', 'calls'),
    figure('resync-kubernetes', 'calls of kube-apiserver between two resyncs', 'calls'),
    figure('resync-runs', 'runs started between two resyncs', 'runs', 0),
    figure('restart', 'bridge: start of the process → all listed, nothing left to signal', 's'),
    figure('restart-cpu', 'bridge: processor time until then', 's'),
    figure('restart-kubernetes', 'bridge: calls of kube-apiserver until then', 'calls'),
    figure('restart-runs', 'runs started by its restart', 'runs'),
  ];
}

export const outsideFigures: Figure[] = [
  { id: 'vms-outside.off', title: 'govc vm.power -off → status.powerState, p50', unit: 's', better: 'lower', goal: 1 },
  { id: 'vms-outside.govc', title: 'of it, govc itself, p50', unit: 's', better: 'lower', goal: null },
];
