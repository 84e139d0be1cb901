import type { ErrorCode } from '../../contracts/errors.ts';
import { failureCode } from '../../runtime/failure.ts';
import { isError } from '../../runtime/is-error.ts';
import type { AuditEntry } from '../../runtime/telemetry/audit.ts';
import type { ActivityContext } from './context.ts';

/** One change of an outside system, as the audit log has it. */
export interface Mutation extends Pick<AuditEntry, 'action' | 'cause' | 'object' | 'before'> {
  /** What is asked for. */
  after: unknown;
  /** Default: drover. */
  actor?: string;
}

/** What is written as `after` of a change that failed. */
export interface FailedMutation {
  asked: unknown;
  failed: string;
  /**
   * No answer came, or none that can be read: it may have happened. The next attempt then finds it done,
   * and writes nothing.
   */
  unanswered?: true;
}

/** What an answer adds to the line; null: nothing was changed, and there is no line. */
type Answered = Partial<Pick<AuditEntry, 'object' | 'after' | 'requestId'>> | null;

/**
 * The only way to change something outside: asks whether drover is stopped, acts, and writes the audit line, whether
 * the change was made, failed, or its answer was lost. A conflict of versions has changed nothing and leaves no line.
 *
 * @param act returns false or null where nothing was changed; a `requestId` of its answer is written down
 * @param read what its answer says besides
 * @throws Stopped; what `act` throws
 */
export async function mutate<Result>(
  context: Pick<ActivityContext, 'stopGate' | 'audit' | 'scope'>,
  mutation: Mutation,
  act: () => Promise<Result>,
  read: (result: Result) => Answered = readAnswer,
): Promise<Result> {
  await context.stopGate(context.scope.signal);
  return await audited(context, mutation, act, read);
}

/** As {@link mutate}, of what is written while drover is stopped, too. */
export async function audited<Result>(
  { audit, scope }: Pick<ActivityContext, 'audit' | 'scope'>,
  { actor = 'drover', ...mutation }: Mutation,
  act: () => Promise<Result>,
  read: (result: Result) => Answered = readAnswer,
): Promise<Result> {
  const entry: AuditEntry = { actor, ...mutation, run: scope.run, requestId: null };
  let result: Result;
  try {
    result = await act();
  } catch (error) {
    if (isOvertaken(error)) throw error;
    const failed: FailedMutation = { asked: entry.after, failed: isError(error) ? error.message : String(error) };
    await audit.record({ ...entry, after: isUnanswered(error) ? { ...failed, unanswered: true } : failed });
    throw error;
  }
  const answered = read(result);
  if (answered !== null) await audit.record({ ...entry, ...answered });
  return result;
}

function readAnswer(result: unknown): Answered {
  if (result === false || result === null) return null;
  const { requestId } = Object(result) as { requestId?: unknown };
  return typeof requestId === 'string' ? { requestId } : {};
}

/** Another writer was faster: the object is read and the change decided anew, and what comes of that has its line. */
const overtaken: readonly ErrorCode[] = ['ObjectConflict', 'ProviderConflict', 'ConsumerConflict', 'ServiceConflict'];

function isOvertaken(error: unknown): boolean {
  const code = failureCode(error);
  return code !== null && overtaken.includes(code);
}

const unanswered: readonly ErrorCode[] = [
  'NovaUnavailable',
  'PlacementUnavailable',
  'NeutronUnavailable',
  'CinderUnavailable',
  'GlanceUnavailable',
  'KubernetesUnavailable',
  'VsphereUnavailable',
  'BmcUnreachable',
  'AnswerMalformed',
];

/** What is no row of the error table is an activity that was cancelled in the middle of its request. */
function isUnanswered(error: unknown): boolean {
  const code = failureCode(error);
  return code === null || unanswered.includes(code);
}
