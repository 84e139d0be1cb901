import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { EvidenceRecord } from './record.ts';
import { readRecords, writeRecord } from './record.ts';
import { renderReports } from './reports.ts';
import { checkout } from './sources.ts';

const fileOf = (report: string): string => join(checkout, 'evidence', report);

/** Writes the record, and the reports anew. @returns the record's path below the checkout */
export function saveRecord(record: EvidenceRecord): string {
  const path = writeRecord(record);
  writeReports();
  return path;
}

export function writeReports(): void {
  for (const [report, text] of Object.entries(renderReports(readRecords))) writeFileSync(fileOf(report), text);
}

/** Reports that are not what the records give. */
export const findOldReports = (): string[] =>
  Object.entries(renderReports(readRecords))
    .filter(([report, text]) => !existsSync(fileOf(report)) || readFileSync(fileOf(report), 'utf8') !== text)
    .map(([report]) => `evidence/${report}`);
