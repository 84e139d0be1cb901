import { setTimeout as delay } from 'node:timers/promises';
import type { EvictionPhase } from '../contracts/eviction.ts';
import { evictionId } from '../contracts/ids.ts';
import { openObstacles } from './eviction-description.ts';
import { exitCodeOfEnding, exitCodes } from './exit-codes.ts';
import { explainError } from './explain-error.ts';
import type { FollowSource, Look } from './follow.ts';
import { nextCommands } from './next-commands.ts';
import { renderEnding } from './render/ending.ts';
import { renderNextCommands } from './render/next-commands.ts';
import { describeChanges } from './render/watch.ts';
import type { TemporalAccess } from './temporal-access.ts';
import type { Terminal } from './terminal.ts';
import { webUiLink } from './web-ui.ts';

/** A preflight that refuses does so within seconds: worth waiting for, so that the person learns of it here. */
const beginningMs = 8_000;

/** Phases that say no more about the eviction than that something is about to be said: at its beginning, and just before a run ends. */
const passingPhases = new Set<EvictionPhase>(['Opening', 'Preflight', 'Succeeded', 'Failed', 'Stopped', 'Observed']);

/** Tells how an eviction begins, and what to type next. */
export async function tellBeginning(source: FollowSource, temporal: TemporalAccess, host: string, terminal: Terminal): Promise<void> {
  const look = await lookAtBeginning(source, temporal.abort);
  const progress = look?.state === 'running' || look?.state === 'ended' ? look.progress : null;
  if (look?.state === 'running' && progress !== null) for (const line of describeChanges(null, progress)) terminal.print(line);
  if (look?.state === 'ended') {
    for (const line of renderEnding(look.ending, terminal.paint)) terminal.print(line);
    process.exitCode = exitCodeOfEnding(look.ending.outcome);
  }
  const link = webUiLink(temporal.namespace, evictionId(host, temporal.config.cluster), null);
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
  for (const line of renderNextCommands([...nextCommands(situation), { command: `drover describe ${host}`, why: 'everything about it' }], terminal.paint)) terminal.remark(line);
}

async function lookAtBeginning(source: FollowSource, abort: AbortSignal): Promise<Look | null> {
  const untilMs = Date.now() + beginningMs;
  for (;;) {
    const look = await source.look().catch((error: unknown) => {
      abort.throwIfAborted();
      if (explainError(error).exitCode !== exitCodes.unreachable) throw error;
      return null;
    });
    const isPassing = look === null || look.state === 'waiting' || (look.state === 'running' && (look.progress === null || passingPhases.has(look.progress.phase)));
    if (!isPassing || Date.now() > untilMs) return look;
    await delay(250, undefined, { signal: abort });
  }
}
