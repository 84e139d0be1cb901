import type { MigrateInstanceInput, MigrationEnd } from '../../contracts/migrate-instance.ts';
import { hasEnded } from '../../activities/nova/judge-migration.ts';
import type { Problem } from '../../workflows/lib/failures.ts';
import { retryAfterMs } from '../../workflows/lib/retry.ts';
import { planAfterFailure } from '../../workflows/migration/after-failure.ts';
import type { Move, Progress } from '../../workflows/migration/plan.ts';
import type { LastMove } from '../../workflows/migration/plan-wind-down.ts';
import { beginProgress, completionForced, foundNoRoom, idleAwaited, lookedAgain, mayBeInFlight, migrationAborted, migrationEnded, moveConfirmed, resultOf, startAnswered } from '../../workflows/migration/progress.ts';
import { retryDelayMs, wishOf } from '../../workflows/migration/request.ts';
import type { Server } from './nova.ts';
import { arrives, confirmResize, ends, hasRoom, isHanging, observeInstance, startMigration } from './nova.ts';
import { Fault, call, passStopGate, waitOnNova } from './calls.ts';
import type { Child, Simulation } from './simulation.ts';

/** Starts a child, which holds its server's lock; false when another has it. */
export function startChild(sim: Simulation, input: MigrateInstanceInput, ended: Child['ended'], failed: Child['failed']): Child | null {
  const { id } = input.instance;
  if (sim.children.has(id)) return null;
  const child: Child = { token: 0, input, progress: beginProgress(input), surprises: 0, cancelled: false, asking: false, outages: 0, moves: 0, ended, failed };
  sim.children.set(id, child);
  sim.clock.at(sim.clock.nowMs + 50, () => next(sim, child));
  return child;
}

export function cancelChild(sim: Simulation, child: Child): void {
  if (child.cancelled) return;
  child.cancelled = true;
  // A request that is under way is waited for.
  if (child.asking) return;
  child.token += 1;
  lookAgain(sim, child);
}

function close(sim: Simulation, child: Child, tell: () => void): void {
  child.token += 1;
  sim.children.delete(child.input.instance.id);
  sim.watch.childClosed(child);
  // The parent hears of it a little later.
  sim.clock.at(sim.clock.nowMs + 20, tell);
}

function lookAgain(sim: Simulation, child: Child): void {
  call(
    sim, child, 'nova',
    () => observeInstance(sim.nova, child.input.instance.id),
    (observation) => {
      lookedAgain(child.progress, observation);
      next(sim, child);
    },
    (problem) => unlucky(sim, child, problem),
  );
}

/** A move failed. */
function unlucky(sim: Simulation, child: Child, problem: Problem): void {
  const { clock, stopUntilMs } = sim;
  const { token, surprises, cancelled, progress } = child;
  const lookAt = (atMs: number): void => clock.at(atMs, () => void (child.token === token && lookAgain(sim, child)));
  switch (planAfterFailure(problem.code, { surprises, mayFail: !cancelled && !mayBeInFlight(progress) })) {
    case 'fail':
      return close(sim, child, () => child.failed(problem));
    case 'awaitLift':
      return lookAt(Math.max(stopUntilMs, clock.nowMs) + 500);
    case 'lookAgain':
      child.surprises += 1;
      return lookAgain(sim, child);
    case 'waitOut':
      child.outages += 1;
      return lookAt(clock.nowMs + retryAfterMs(child.outages));
  }
}

function next(sim: Simulation, child: Child): void {
  const { planners, watch } = sim;
  const move = child.cancelled ? planners.planWindDown(child.input, child.progress) : planners.planMove(wishOf(child.input), child.progress);
  if (sim.throughJson) child.progress = JSON.parse(JSON.stringify(child.progress)) as Progress;
  child.moves += 1;
  watch.childMoves(sim, child, move);
  if (move.do === 'end') {
    const result = resultOf(child.progress, move.outcome, move.message);
    return close(sim, child, () => child.ended(result));
  }
  makeMove(sim, child, move);
}

function makeMove(sim: Simulation, child: Child, move: Exclude<Move | LastMove, { do: 'end' }>): void {
  const { nova, clock, settings } = sim;
  const { progress, input } = child;
  const { id } = input.instance;
  const goOn = <Answer>(take: (answer: Answer) => void) => (answer: Answer): void => {
    take(answer);
    child.outages = 0;
    next(sim, child);
  };
  const fail = (problem: Problem): void => unlucky(sim, child, problem);
  switch (move.do) {
    case 'migrateLive':
    case 'migrateCold': {
      const { token } = child;
      clock.at(clock.nowMs + retryDelayMs(input, progress.attempts), () => void (child.token === token && ask(sim, child, move.do === 'migrateLive' ? 'live' : 'cold')));
      return;
    }
    case 'awaitMigration': {
      if (progress.attempts === 0) progress.attempts = 1;
      const { stuck } = settings;
      const server = nova.servers.get(id);
      const stuckMs = server?.fate === 'queued' ? stuck.startMs : server !== undefined && isHanging(server.fate) ? stuck.noProgressMs : 24 * 3_600_000;
      const look = (isLate: boolean): MigrationEnd | undefined => endOf(sim, child, move.migration.id, ['finished'], isLate ? (server?.fate === 'queued' ? 'NotStarted' : 'NoProgress') : null);
      return waitOnNova(sim, child, look, clock.nowMs + stuckMs, goOn((end) => migrationEnded(progress, end)), fail);
    }
    case 'abort': {
      const abort = (): void => {
        const server = nova.servers.get(id);
        const migration = server?.migrations.find((one) => one.id === move.migration.id);
        if (server === undefined || migration === undefined) throw new Fault('MigrationNotFound');
        if (hasEnded(migration)) return;
        passStopGate(sim);
        const { fate } = server;
        clock.at(clock.nowMs + 1_500, () => (fate === 'hangs on abort' ? arrives(nova, server, migration) : ends(nova, server, migration, 'cancelled')));
      };
      const wait = (): void => waitOnNova(sim, child, () => endOf(sim, child, move.migration.id, [], null), Infinity, goOn((end) => migrationAborted(progress, end)), fail);
      return call(sim, child, 'nova', abort, wait, fail);
    }
    case 'forceComplete':
      return call(
        sim, child, 'nova',
        () => {
          passStopGate(sim);
          const server = nova.servers.get(id);
          const migration = server?.migrations.find((one) => one.id === move.migration.id);
          if (server === undefined || migration === undefined) throw new Fault('MigrationNotFound');
          if (sim.random() < 0.7) clock.at(clock.nowMs + 5_000, () => arrives(nova, server, migration));
        },
        goOn(() => completionForced(progress, move.migration.id)),
        fail,
      );
    case 'confirm': {
      const confirm = (): void => {
        passStopGate(sim);
        const server = nova.servers.get(id);
        sim.watch.confirms(sim, child, server, move.migrationId);
        if (server !== undefined) clock.at(clock.nowMs + 1_000, () => confirmResize(nova, server));
      };
      const wait = (): void => waitOnNova(sim, child, () => endOf(sim, child, move.migrationId, [], null), Infinity, goOn((end) => moveConfirmed(progress, end)), fail);
      return call(sim, child, 'nova', confirm, wait, fail);
    }
    case 'awaitIdle': {
      const look = (isLate: boolean) => {
        const observation = observeInstance(nova, id);
        return isLate || observation.instance === null || observation.instance.taskState === null ? observation : undefined;
      };
      return waitOnNova(sim, child, look, clock.nowMs + settings.instanceBusyMs, goOn((observation) => idleAwaited(progress, observation)), fail);
    }
  }
}

function ask(sim: Simulation, child: Child, kind: 'live' | 'cold'): void {
  const { nova, clock, random, settings } = sim;
  const { input, progress } = child;
  const { perTarget, targetBusyMs } = settings;
  progress.asked = true;
  child.asking = true;
  const request = { instanceId: input.instance.id, sourceHost: input.sourceHost, perTarget, by: input.eviction.uid };
  call(
    sim, child, 'nova',
    () => {
      const before = nova.lastMigrationId;
      if (sim.clock.nowMs < sim.stopUntilMs) throw new Fault('Stopped');
      const start = startMigration(nova, clock, random, kind, request);
      if (nova.lastMigrationId !== before) {
        nova.unproven.add(nova.lastMigrationId);
        sim.watch.migrationStarted(sim, child);
      }
      return start;
    },
    (start) => {
      progress.asked = false;
      if (start.outcome === 'started') nova.unproven.delete(start.migration.id);
      child.asking = false;
      if (child.cancelled) {
        if (start.outcome !== 'targetsBusy') startAnswered(progress, kind, start);
        return lookAgain(sim, child);
      }
      if (start.outcome !== 'targetsBusy') {
        startAnswered(progress, kind, start);
        return next(sim, child);
      }
      const look = (isLate: boolean): boolean | undefined => (hasRoom(nova, input.sourceHost, perTarget) ? true : isLate ? false : undefined);
      const then = (room: boolean): void => {
        if (!room) foundNoRoom(progress, input);
        next(sim, child);
      };
      waitOnNova(sim, child, look, clock.nowMs + targetBusyMs, then, (problem) => unlucky(sim, child, problem));
    },
    (problem) => {
      child.asking = false;
      unlucky(sim, child, problem);
    },
  );
}

/** What came of a migration, once it is over, in one of `alsoOver`, or judged stuck. */
function endOf({ nova }: Simulation, { input }: Child, migrationId: number, alsoOver: readonly string[], stuck: MigrationEnd['stuck']): MigrationEnd | undefined {
  const server: Server | undefined = nova.servers.get(input.instance.id);
  const migration = server?.migrations.find((one) => one.id === migrationId);
  if (server === undefined || migration === undefined) return { status: 'gone', stuck: null, targetHost: null, observation: { instance: null, migration: null }, message: null };
  const isOver = hasEnded(migration);
  if (!isOver && !alsoOver.includes(migration.status)) {
    if (stuck === null) return undefined;
    return { status: 'stuck', stuck, targetHost: migration.targetHost, observation: { instance: { ...server.instance }, migration: { ...migration } }, message: null };
  }
  const message = ['completed', 'confirmed', 'finished', 'cancelled'].includes(migration.status) ? null : `Migration ${migrationId} ended as ${migration.status}`;
  return { status: migration.status, stuck: null, targetHost: migration.targetHost, observation: { instance: { ...server.instance }, migration: isOver ? null : { ...migration } }, message };
}
