import type { AllowanceGranted } from '../../contracts/allowance.ts';
import { turnKinds } from '../../contracts/allowance.ts';

/** A grant as it came by signal, or null when it is none: people can send signals by hand, and one with other content must not stop the run. */
export function readGrant(value: unknown): AllowanceGranted | null {
  const { sequence, allowance, limit, consumers, of } = Object(value) as Record<string, unknown>;
  const turn = turnKinds.find((kind) => kind === of);
  if (!isCount(sequence) || !isCount(allowance) || !isCount(limit) || !isCount(consumers)) return null;
  return { sequence, allowance, limit, consumers, ...(turn !== undefined && { of: turn }) };
}

const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) >= 0;
