import type { Finding } from '../checks/finding.ts';
import type { Paint } from './paint.ts';
import { oneLine } from './table.ts';

const styles = { ok: 'good', warn: 'warning', fail: 'bad' } as const;

/** One line per check, and under what is not ok what to do about it. */
export function renderFindings(findings: readonly Finding[], paint: Paint): string[] {
  const width = Math.min(40, Math.max(...findings.map(({ check }) => check.length)));
  return findings.flatMap(({ check, status, message, advice }) => [
    `${paint(styles[status], status.padEnd(4))}  ${check.padEnd(width)}  ${oneLine(message)}`,
    ...(advice === null ? [] : [`${' '.repeat(6 + width + 2)}→ ${oneLine(advice)}`]),
  ]);
}
