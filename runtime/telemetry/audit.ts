import { chmodSync, closeSync, mkdirSync, openSync } from 'node:fs';
import { appendFile } from 'node:fs/promises';
import { dirname } from 'node:path';

import type { ErrorCode } from '../../contracts/errors.ts';
import type { Clock } from '../clock.ts';
import { droverFailure, failureCode } from '../failure.ts';
import { isError } from '../is-error.ts';
import { redact } from '../redaction.ts';

/** One mutation of an outside system (design section 2, rule 17). */
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
  /** Resolves when the line is written. Never rejects: what was done is done, so a line that cannot be written goes to stderr. */
  record(entry: AuditEntry): Promise<void>;
}

/** Of a change that was asked for and has no answer: it may have happened. */
export interface UnansweredChange {
  asked: unknown;
  /** What came instead of an answer. */
  failed: string;
}

/** What an answer adds to the line. */
type Answered = Partial<Pick<AuditEntry, 'object' | 'after' | 'requestId'>>;

/**
 * Asks for one change, and writes it down as it was answered, or as an {@link UnansweredChange}: the next attempt finds it done and writes
 * nothing. A refusal has changed nothing and leaves no line.
 *
 * @param entry `after`: what is asked for
 * @param read what the answer says besides; null: nothing was changed
 */
export async function auditChange<Result>(
  audit: Audit,
  entry: Omit<AuditEntry, 'requestId'>,
  ask: () => Promise<Result>,
  read: (result: Result) => Answered | null,
): Promise<Result> {
  let result: Result;
  try {
    result = await ask();
  } catch (error) {
    if (isUnanswered(error)) {
      const after: UnansweredChange = { asked: entry.after, failed: isError(error) ? error.message : String(error) };
      await audit.record({ ...entry, after, requestId: null });
    }
    throw error;
  }
  const answered = read(result);
  if (answered !== null) await audit.record({ ...entry, requestId: null, ...answered });
  return result;
}

const unanswered: readonly ErrorCode[] = [
  'NovaUnavailable',
  'PlacementUnavailable',
  'KubernetesUnavailable',
  'AnswerMalformed',
];

/** What is no row of the error table is an activity that was cancelled in the middle of its request. */
function isUnanswered(error: unknown): boolean {
  const code = failureCode(error);
  return code === null || unanswered.includes(code);
}

export interface AuditOptions {
  /** Appended to, mode 0600; its directory is made where it is missing. Null: stderr. */
  file: string | null;
  /** Where lines go without a file, or when it fails. */
  fallback?: (line: string) => void;
  clock: Pick<Clock, 'now'>;
}

/**
 * Each line is one write to a file opened for appending, so several processes may share the file and it may be rotated by renaming.
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
