import { govcJson } from './govc.ts';
import type { VsphereHandle } from './handle.ts';

/** A task as vCenter itself shows it. */
export interface WitnessedTask {
  /** `VirtualMachine.clone`. */
  descriptionId: string;
  startMs: number;
  /** Null: it has not ended. */
  endMs: number | null;
}

interface Collected<Value> {
  name: string;
  val: Value;
}

/** The recent ones, by govc: at most 200. */
export async function readTasks(vsphere: VsphereHandle): Promise<WitnessedTask[]> {
  const [recent] = await govcJson<Collected<{ _value: { value: string }[] }>[]>(
    vsphere,
    'collect',
    'TaskManager:TaskManager',
    'recentTask',
  );
  const tasks: WitnessedTask[] = [];
  for (const { value } of recent?.val._value ?? []) {
    const [info] = await govcJson<Collected<{ descriptionId: string; startTime: string; completeTime?: string }>[]>(
      vsphere,
      'collect',
      `Task:${value}`,
      'info',
    );
    if (info === undefined) continue;
    const { descriptionId, startTime, completeTime } = info.val;
    tasks.push({
      descriptionId,
      startMs: Date.parse(startTime),
      endMs: completeTime === undefined ? null : Date.parse(completeTime),
    });
  }
  return tasks;
}

/** The most of them that were under way at once. */
export function mostAtOnce(tasks: readonly WitnessedTask[]): number {
  return Math.max(
    0,
    ...tasks.map(
      ({ startMs: atMs }) =>
        tasks.filter(({ startMs, endMs }) => startMs <= atMs && (endMs === null || endMs > atMs)).length,
    ),
  );
}
