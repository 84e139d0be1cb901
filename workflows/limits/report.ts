import type { AllowanceWanted } from '../../contracts/allowance.ts';

/**
 * A report as it came by signal, or null when it is none: people can send signals by hand, and one with other content must neither stop
 * the run nor upset its sums.
 */
export function readReport(value: unknown): AllowanceWanted | null {
  if (!isRecord(value)) return null;
  const { consumer, runId, want, using, deadline = null, host, heard } = value;
  if (!isText(consumer) || !isText(runId) || !isText(host) || !isCount(want) || !isCount(using)) return null;
  if (deadline !== null && typeof deadline !== 'string') return null;
  const report = { consumer, runId, host, want, using, deadline };
  if (heard === undefined) return report;
  if (heard === null) return { ...report, heard };
  if (!isRecord(heard) || !isCount(heard['sequence']) || !isCount(heard['allowance'])) return null;
  return { ...report, heard: { sequence: heard['sequence'], allowance: heard['allowance'] } };
}

const isRecord = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null;
const isText = (value: unknown): value is string => typeof value === 'string' && value !== '';
const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) >= 0;
