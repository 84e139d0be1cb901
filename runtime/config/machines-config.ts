import { z } from 'zod';

import type { SweepSettings } from '../../contracts/machine-safety/sweep.ts';
import { count, day, dnsName, hour, minute, ms, optionalText, second } from './setting-types.ts';

/**
 * The section `machines` of drover's settings: the safety jobs of Machines (docs/machine-safety.md). Every gate of a
 * sweep can be switched off.
 */

const percent = z.int().min(0).max(100);
const most = (value: number) => z.int().min(1).max(100_000).nullable().default(value);

const sweep = z
  .strictObject({
    periodMs: ms(15 * minute, { least: second }),
    jitterMs: ms(minute, { least: 0, most: hour }),
    ageMs: z.int().min(0).max(day).nullable().default(null),
    sightings: count(2, 100),
    most: most(10),
    mostPercent: percent.default(10),
    approveAbove: most(3),
    approveAbovePercent: percent.default(10),
    approveWithoutMachines: z.boolean().default(true),
    approvalMs: ms(day, { most: 7 * day }),
    probationMs: ms(day, { least: 0, most: 30 * day }),
    frozen: z.boolean().default(true),
    renamedAreKept: z.boolean().default(true),
    detachForeignDisks: z.boolean().default(true),
    longRetryMs: ms(10 * minute, { most: hour }),
  })
  .prefault({});

export const machinesConfig = z
  .strictObject({
    namespaces: z
      .array(dnsName.max(63))
      .refine((names) => new Set(names).size === names.length, 'expected each namespace once')
      .default([]),
    targetKubeconfig: optionalText,
    creationTimeoutMs: ms(20 * minute),
    sweep,
    apiServers: z
      .strictObject({
        periodMs: ms(minute, { least: 10, most: hour }),
        timeoutMs: ms(30 * second, { least: 10, most: hour }),
      })
      .prefault({})
      // As machine-controller-manager asks for it.
      .refine(({ periodMs, timeoutMs }) => periodMs >= timeoutMs, {
        path: ['timeoutMs'],
        error: 'expected at most machines.apiServers.periodMs',
      }),
    overshoot: z
      .strictObject({
        periodMs: ms(minute, { least: 10, most: hour }),
        safetyUp: z.int().min(0).max(1_000).default(2),
        safetyDown: z.int().min(0).max(1_000).default(1),
      })
      .prefault({}),
  })
  .prefault({});

export type MachinesConfig = z.infer<typeof machinesConfig>;

/** Of a run, renewed with each observation. */
export const sweepSettings = ({ sweep: { ageMs, ...rest }, creationTimeoutMs }: MachinesConfig): SweepSettings => ({
  ...rest,
  ageMs: ageMs ?? 2 * creationTimeoutMs,
});
