import type { VirtualMachineSpec } from '../crds/virtual-machine.ts';

type Advanced = NonNullable<VirtualMachineSpec['advanced']>;

/**
 * When a change of a key of ExtraConfig counts that is made while the VM runs: at once, with its next power cycle, or
 * it has to wait until the VM is off.
 */
export type TakesEffect = 'atOnce' | 'powerCycle' | 'powerOff';

interface Row {
  key: string;
  takesEffect: TakesEffect;
}

/** Fields of `spec.advanced` that are keys of ExtraConfig, by upstream’s table. */
const rows = {
  cpuAffinityExclusiveNoStatsEnabled: { key: 'sched.cpu.affinity.exclusiveNoStats', takesEffect: 'powerCycle' },
  hugePages1GEnabled: { key: 'sched.mem.lpage.enable1GPage', takesEffect: 'powerOff' },
  pnumaNodeAffinity: { key: 'numa.nodeAffinity', takesEffect: 'powerCycle' },
  preferHtEnabled: { key: 'numa.vcpu.preferHT', takesEffect: 'powerCycle' },
  timeTrackerLowLatencyEnabled: { key: 'timeTracker.lowLatency', takesEffect: 'powerCycle' },
  vmxSwapEnabled: { key: 'sched.swap.vmxSwapEnabled', takesEffect: 'powerCycle' },
} as const satisfies Partial<Record<keyof Advanced, Row>>;

const effects = new Map<string, TakesEffect>(
  Object.values(rows).map(({ key, takesEffect }) => [key, takesEffect] as const),
);
export const effectOf = (key: string): TakesEffect => effects.get(key) ?? 'atOnce';

/** The keys that a spec asks for by its fields. */
export function readAdvancedKeys(advanced: Advanced): Record<string, string> {
  return Object.fromEntries(
    Object.entries(rows).flatMap(([field, { key }]) => {
      const value = advanced[field as keyof typeof rows];
      if (value === undefined || (Array.isArray(value) && value.length === 0)) return [];
      return [[key, Array.isArray(value) ? value.join(',') : value ? 'TRUE' : 'FALSE'] as const];
    }),
  );
}
