import type { Figure } from '../harness/benchmark.ts';

/** Where the volumes are: directories of the lab, or images of its Ceph. */
export type CloneDriver = 'directories' | 'rbd';

/** How many clones of one source are made at once. */
export const usualCounts: readonly number[] = [1, 20, 100];
/** Enough to see that it works. */
export const quickCounts: readonly number[] = [1, 4];
/** So many are made by a script, too. */
export const scriptCount = (counts: readonly number[]): number => (counts.includes(20) ? 20 : Math.max(...counts));

export const clonePrefix = (driver: CloneDriver, count: number): string => `clones-${driver}-${count}`;

const names: Readonly<Record<CloneDriver, string>> = { directories: 'directories', rbd: 'Ceph' };

/** @param besideScript with those of the script */
export function cloneFigures(driver: CloneDriver, count: number, besideScript: boolean): Figure[] {
  const figure = (
    id: string,
    what: string,
    unit: string,
    { goal = null, better = 'lower' }: Partial<Pick<Figure, 'goal' | 'better'>> = {},
  ): Figure => ({
    id: `${clonePrefix(driver, count)}.${id}`,
    title: `${count === 1 ? 'one clone' : `${count} clones at once`}, ${names[driver]}: ${what}`,
    unit,
    better,
    goal,
  });
  return [
    figure('all', 'first DataVolume created → last one Succeeded', 's'),
    figure('p50', 'DataVolume created → Succeeded, half of them within', 's'),
    figure('p99', 'DataVolume created → Succeeded, 99 % of them within', 's'),
    figure('snapshots', 'snapshots that the driver took', 'snapshots', { goal: 2 }),
    figure('kubernetes', 'calls of kube-apiserver for each, bridge included', 'calls'),
    figure('events', 'events in histories for each', 'events', { goal: 40 }),
    ...(besideScript
      ? [
          figure('bound', 'first DataVolume created → last PVC bound', 's'),
          figure('script', 'a script that takes one snapshot and restores it as often: → last PVC bound', 's'),
          figure('ratio', 'drover’s time until the last PVC is bound ÷ the script’s', ''),
          figure('slow-bound', 'first DataVolume created → last PVC bound, slow storage', 's'),
          figure('slow-script', 'the script, slow storage', 's'),
          figure('slow-ratio', 'drover’s time until the last PVC is bound ÷ the script’s, slow storage', '', {
            goal: 1.2,
          }),
        ]
      : []),
  ];
}
