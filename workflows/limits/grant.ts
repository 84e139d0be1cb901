import type { AllowanceGranted } from '../../contracts/allowance.ts';
import { slotKinds } from '../../contracts/allowance.ts';

/** A grant as it came by signal, or null when it is none: people can send signals by hand, and one with other content must not stop the run. */
export function readGrant(value: unknown): AllowanceGranted | null {
  const { sequence, allowance, limit, consumers, kind } = Object(value) as Record<string, unknown>;
  const slot = slotKinds.find((one) => one === kind);
  if (!isCount(sequence) || !isCount(allowance) || !isCount(limit) || !isCount(consumers)) return null;
  return { sequence, allowance, limit, consumers, ...(slot !== undefined && { kind: slot }) };
}

const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) >= 0;
