import type { Figure } from '../harness/benchmark.ts';

/** How many hypervisors are onboarded at once. */
export const sizes = [1, 20, 200] as const;
export type Size = (typeof sizes)[number];

const hypervisors = (size: Size): string => (size === 1 ? 'one hypervisor' : `${size} hypervisors at once`);

/**
 * What is measured of each; only one by itself is judged by the time between its steps, as many wait for each other.
 */
export function onboardingFigures(size: Size): Figure[] {
  const title = (what: string): string => `${hypervisors(size)}: ${what}`;
  const figure = (id: string, what: string, unit: string, goal: number | null = null): Figure => ({
    id: `onboarding-${size}.${id}`,
    title: title(what),
    unit,
    better: 'lower',
    goal,
  });
  return [
    ...(size === 1 ? [] : [figure('all', 'first Node created → last in service', 's')]),
    figure('p50', 'Node created → in service, p50', 's'),
    ...(size === 1 ? [] : [figure('p99', 'Node created → in service, p99', 's')]),
    figure('steps', 'its steps together (Σ of activities), p50', 's'),
    figure('between', 'time between steps, for each step, p50', 's', size === 1 ? 2 : null),
    figure('nova', 'calls of Nova for each', 'calls'),
    figure('placement', 'calls of Placement for each', 'calls'),
    figure('kubernetes', 'calls of kube-apiserver for each, bridge included', 'calls'),
    figure('worker', 'worker: peak of its resident set', 'MiB'),
    figure('bridge', 'bridge: peak of its resident set', 'MiB'),
  ];
}
