import type { AllowanceRequest } from '../../contracts/allowance.ts';

/**
 * A report as it came by signal, or null when it is none: people can send signals by hand, and one with other content must neither stop
 * the run nor upset its sums.
 */
export function readReport(value: unknown): AllowanceRequest | null {
  if (!isRecord(value)) return null;
  const { consumer, runId, want, using, deadline = null, host, acknowledged } = value;
  if (!isText(consumer) || !isText(runId) || !isText(host) || !isCount(want) || !isCount(using)) return null;
  if (deadline !== null && typeof deadline !== 'string') return null;
  const report = { consumer, runId, host, want, using, deadline };
  if (acknowledged === undefined) return report;
  if (acknowledged === null) return { ...report, acknowledged };
  if (!isRecord(acknowledged) || !isCount(acknowledged['sequence']) || !isCount(acknowledged['allowance'])) return null;
  return { ...report, acknowledged: { sequence: acknowledged['sequence'], allowance: acknowledged['allowance'] } };
}

const isRecord = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null;
const isText = (value: unknown): value is string => typeof value === 'string' && value !== '';
const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) >= 0;
