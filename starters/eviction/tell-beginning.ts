import type { EvictionPhase } from '../../contracts/eviction/eviction.ts';
import { evictionId } from '../../contracts/ids.ts';
import { openObstacles } from './eviction-description.ts';
import { exitCodeOfEnding, exitCodes } from '../command/exit-codes.ts';
import { explainError } from '../command/explain-error.ts';
import type { FollowSource, Look } from './follow.ts';
import { nextCommands } from '../command/next-commands.ts';
import { renderEnding } from '../render/ending.ts';
import { renderNextCommands } from '../render/next-commands.ts';
import { describeChanges } from '../render/watch.ts';
import type { TemporalAccess } from '../command/temporal-access.ts';
import { webUiLink } from '../command/web-ui.ts';

/** A preflight that refuses does so within seconds: worth waiting for, so that the person learns of it here. */
const beginningMs = 20_000;
/** A run whose outcome is decided ends within moments, and a script wants its exit code. */
const endingMs = 30_000;

/** For how long it is waited for more; a phase that is not named says enough. */
const patienceMs: Readonly<Partial<Record<EvictionPhase, number>>> = {
  Opening: beginningMs,
  Preflight: beginningMs,
  Succeeded: endingMs,
  Failed: endingMs,
  Stopped: endingMs,
  Observed: endingMs,
};

/** Tells how an eviction begins, and what to type next. */
export async function tellBeginning(source: FollowSource, temporal: TemporalAccess, host: string): Promise<void> {
  const { context } = temporal;
  const { terminal } = context;
  const look = await lookAtBeginning(source, temporal);
  const progress = look?.state === 'running' || look?.state === 'ended' ? look.progress : null;
  if (look?.state === 'running' && progress !== null)
    for (const line of describeChanges(null, progress)) terminal.print(line);
  if (look?.state === 'ended') {
    for (const line of renderEnding(look.ending, terminal.paint)) terminal.print(line);
    context.exitCode = exitCodeOfEnding(look.ending.outcome);
  }
  const link = webUiLink(temporal.namespace, evictionId(host, temporal.config.cluster), null, context.env);
  if (link !== null) terminal.remark(`Web UI: ${link}`);
  const situation = {
    host,
    running: look?.state !== 'ended',
    progress,
    outcome: look?.state === 'ended' ? look.ending.outcome : null,
    eviction: null,
    obstacles: progress === null ? [] : openObstacles(progress),
    stopped: false,
    leftDisabled: null,
  };
  for (const line of renderNextCommands(
    [...nextCommands(situation), { command: `drover describe ${host}`, why: 'everything about it' }],
    terminal.paint,
  ))
    terminal.remark(line);
}

async function lookAtBeginning(
  source: FollowSource,
  { context: { clock }, abort }: TemporalAccess,
): Promise<Look | null> {
  const sinceMs = clock.now();
  for (;;) {
    const look = await source.look().catch((error: unknown) => {
      abort.throwIfAborted();
      if (explainError(error).exitCode !== exitCodes.unreachable) throw error;
      return null;
    });
    if (clock.now() - sinceMs >= patienceWith(look)) return look;
    await clock.sleep(250, abort);
  }
}

/** Milliseconds since the beginning; 0: it says enough. */
function patienceWith(look: Look | null): number {
  if (look === null || look.state === 'waiting') return beginningMs;
  if (look.state !== 'running') return 0;
  return look.progress === null ? beginningMs : (patienceMs[look.progress.phase] ?? 0);
}
