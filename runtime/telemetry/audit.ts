import { chmodSync, closeSync, mkdirSync, openSync } from 'node:fs';
import { appendFile } from 'node:fs/promises';
import { dirname } from 'node:path';

import type { Clock } from '../clock.ts';
import { droverFailure } from '../failure.ts';
import { redact } from '../redaction.ts';

/** One mutation of an outside system. */
export interface AuditEntry {
  /** Who wanted it, as far as drover knows: the starter of the run, or `drover`. */
  actor: string;
  /** Why: the eviction's cause, an update, a cancel. */
  cause: string;
  /** What was done, as the activity is called: `ensureServiceDisabled`, `startLiveMigration`, … */
  action: string;
  /** What it was done to: `compute-service/node-1`, `server/<uuid>`. */
  object: string;
  before: unknown;
  after: unknown;
  /** Null for what a person's command did without a run. */
  run: { workflowId: string; runId: string } | null;
  /** The outside system's own id of the request; null where it gives none. */
  requestId: string | null;
}

/** A log of its own: one JSON line per mutation, in the order in which they were recorded. */
export interface Audit {
  /**
   * Resolves when the line is written. Never rejects: what was done is done, so a line that cannot be written
   * goes to stderr.
   */
  record(entry: AuditEntry): Promise<void>;
}

export interface AuditOptions {
  /** Appended to, mode 0600; its directory is made where it is missing. Null: stderr. */
  file: string | null;
  /** Where lines go without a file, or when it fails. */
  fallback?: (line: string) => void;
  clock: Pick<Clock, 'now'>;
}

/**
 * Each line is one write to a file opened for appending, so several processes may share the file and it may be rotated
 * by renaming.
 * @throws InvalidConfiguration when the file cannot be opened
 */
export function openAudit({ file, fallback = (line) => void process.stderr.write(line), clock }: AuditOptions): Audit {
  if (file !== null) prepare(file);
  return {
    async record(entry) {
      const line = `${JSON.stringify({ time: new Date(clock.now()).toISOString(), ...(redact(entry) as AuditEntry) })}\n`;
      if (file === null) return fallback(line);
      try {
        await appendFile(file, line, { mode: 0o600 });
      } catch {
        fallback(line);
      }
    },
  };
}

function prepare(file: string): void {
  try {
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
    closeSync(openSync(file, 'a', 0o600));
    chmodSync(file, 0o600);
  } catch (error) {
    throw droverFailure(
      'InvalidConfiguration',
      `The audit log cannot be written: ${error instanceof Error ? error.message : String(error)}. Check audit.file or DROVER_AUDIT_FILE.`,
    );
  }
}
