import { z } from 'zod';
import { type Clock, timeoutSignal, withTimeout } from '../runtime/clock.ts';
import { checkAnswer, isFailure } from '../runtime/kubernetes/kubernetes-faults.ts';
import type { Kubernetes, KubernetesRequest } from '../runtime/kubernetes/kubernetes.ts';
import { resourcePath } from '../runtime/kubernetes/resource-path.ts';
import type { Logger } from '../runtime/telemetry/logging.ts';

export interface LeaseSettings {
  /** After this time without a renewal, others may take the Lease. */
  durationMs: number;
  /**
   * After this time without a successful renewal, the holder stops. Less than the duration, so that it stops before
   * others start.
   */
  renewDeadlineMs: number;
  /** How often it is renewed, or looked at. */
  retryMs: number;
}

export interface LeaseOptions {
  kubernetes: Kubernetes;
  namespace: string;
  name: string;
  /** Unique to this process. */
  identity: string;
  settings: LeaseSettings;
  onAcquired: () => void;
  onLost: () => void;
  clock: Clock;
  /** 0 to 1: spreads the attempts of several. */
  random: () => number;
  log: Logger;
  /** Ends it; the Lease is released. */
  abort: AbortSignal;
}

export interface Lease {
  held(): boolean;
  /** Its holder, as last observed; null: none. */
  holder(): string | null;
  /** Why the last attempt failed. */
  error(): string | null;
  /** Resolves when it has ended and, where this process held it, the Lease is released. */
  done: Promise<void>;
}

/** A Lease as it was read, and since when it has been like that by the local clock. */
export interface SeenLease {
  holder: string | null;
  durationMs: number;
  transitions: number;
  resourceVersion: string;
  sinceMs: number;
}

/** By default a request of the Lease then has 10 s, as all others have. */
const mostSlowness = 5;
/** Of it, with each answer: a server that is slow now and then counts as slow. */
const slownessKept = 0.95;

/** A stop must not wait long for a server that is away; for one that is slow, longer. */
const releaseTimeoutMs = 2_000;

const leaseSchema = z.object({
  metadata: z.object({ resourceVersion: z.string().min(1) }),
  spec: z
    .object({
      holderIdentity: z.string().nullish(),
      leaseDurationSeconds: z.number().nullish(),
      leaseTransitions: z.number().nullish(),
    })
    .prefault({}),
});

/**
 * Whose clock says what does not matter: only how long the Lease has looked the same from here
 * (docs/rules.md#clocks-and-locks). Pure.
 *
 * @param lease null: there is none
 */
export function decideLease(
  lease: SeenLease | null,
  identity: string,
  nowMs: number,
): 'create' | 'renew' | 'take' | 'wait' {
  if (lease === null) return 'create';
  if (lease.holder === identity) return 'renew';
  if (lease.holder === null || nowMs - lease.sinceMs >= lease.durationMs) return 'take';
  return 'wait';
}

/** What was read, put beside what was seen before. */
export function seeLease(before: SeenLease | null, body: unknown, nowMs: number): SeenLease {
  const { metadata, spec } = checkAnswer(leaseSchema, body, 'the Lease');
  return {
    holder: spec.holderIdentity || null,
    durationMs: (spec.leaseDurationSeconds ?? 1) * 1_000,
    transitions: spec.leaseTransitions ?? 0,
    resourceVersion: metadata.resourceVersion,
    sinceMs: before?.resourceVersion === metadata.resourceVersion ? before.sinceMs : nowMs,
  };
}

/**
 * Holds a `coordination.k8s.io/v1` Lease whenever it can, so that of several bridges one works. It saves work and
 * fences nothing: two holders at once are possible and harmless.
 */
export function startLease(options: LeaseOptions): Lease {
  const { kubernetes, namespace, name, identity, settings, clock, random, abort, log } = options;
  const collection = resourcePath('coordination.k8s.io/v1', 'leases', { namespace });
  const path = resourcePath('coordination.k8s.io/v1', 'leases', { namespace, name });
  let seen: SeenLease | null = null;
  /** Start of the last write that succeeded; null: not held. */
  let renewedMs: number | null = null;
  let error: string | null = null;
  /**
   * 1 while kube-apiserver answers fast. All limits are so many times longer: else no bridge could hold the Lease on a
   * server that takes seconds, and nothing would be delivered.
   */
  let slowness = 1;
  let cancelDeadline = (): void => undefined;

  /** As `metav1.MicroTime`. */
  const nowMicro = (): string => new Date(clock.now()).toISOString().replace('Z', '000Z');

  const lose = (why: string): void => {
    if (renewedMs === null) return;
    renewedMs = null;
    cancelDeadline();
    log.warn({ lease: name, identity, holder: seen?.holder }, `the lease is lost: ${why}`);
    options.onLost();
  };

  const hold = (startedMs: number, deadlineMs: number): void => {
    const isNew = renewedMs === null;
    renewedMs = startedMs;
    cancelDeadline();
    cancelDeadline = clock.schedule(
      () => lose(`no renewal within ${Math.round(deadlineMs)} ms`),
      startedMs + deadlineMs - clock.monotonicMs(),
    );
    if (!isNew) return;
    log.info({ lease: name, identity }, 'holds the lease');
    options.onAcquired();
  };

  /** Each request has a third of the deadline, so that a connection that died without a word leaves time for others. */
  const ask = async (request: KubernetesRequest, signal: AbortSignal): Promise<unknown> => {
    const limitMs = settings.renewDeadlineMs / 3;
    const startedMs = clock.monotonicMs();
    const limit = timeoutSignal(clock, Math.round(limitMs * slowness));
    try {
      const answer = await kubernetes.request(request, AbortSignal.any([signal, limit.signal]));
      // The next one may take twice as long.
      const needed = (2 * (clock.monotonicMs() - startedMs)) / limitMs;
      slowness = Math.min(Math.max(1, needed, slowness * slownessKept), mostSlowness);
      return answer;
    } catch (failure) {
      if (limit.signal.aborted) slowness = Math.min(slowness * 2, mostSlowness);
      throw failure;
    } finally {
      limit.dispose();
    }
  };

  const write = async (method: 'POST' | 'PUT', spec: object, signal: AbortSignal): Promise<void> => {
    const metadata = { name, namespace, ...(seen !== null && { resourceVersion: seen.resourceVersion }) };
    const body = { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata, spec };
    const request = { method, path: method === 'POST' ? collection : path, body };
    seen = seeLease(null, await ask(request, signal), clock.monotonicMs());
  };

  const read = async (signal: AbortSignal): Promise<void> => {
    try {
      seen = seeLease(seen, await ask({ method: 'GET', path }, signal), clock.monotonicMs());
    } catch (failure) {
      if (!isFailure(failure, 'ObjectNotFound')) throw failure;
      seen = null;
    }
  };

  const attempt = async ({ isFirst } = { isFirst: true }): Promise<void> => {
    try {
      // The holder knows its resourceVersion; the precondition of the write fails where that has changed.
      if (renewedMs === null || seen === null) await read(abort);
      const move = decideLease(seen, identity, clock.monotonicMs());
      if (move === 'wait') {
        error = null;
        lose(`${seen?.holder ?? 'another process'} holds it`);
        return;
      }
      const at = nowMicro();
      const startedMs = clock.monotonicMs();
      // Both at once: it stops before others start.
      const [durationMs, deadlineMs] = [settings.durationMs * slowness, settings.renewDeadlineMs * slowness];
      const transitions = (seen?.transitions ?? 0) + (move === 'take' ? 1 : 0);
      const spec = {
        holderIdentity: identity,
        leaseDurationSeconds: Math.ceil(durationMs / 1_000),
        leaseTransitions: transitions,
        renewTime: at,
        acquireTime: move === 'renew' ? undefined : at,
      };
      await write(move === 'create' ? 'POST' : 'PUT', spec, abort);
      error = null;
      hold(startedMs, deadlineMs);
    } catch (failure) {
      if (abort.aborted) return;
      if (isFailure(failure, 'ObjectConflict') && renewedMs !== null) {
        // Another process wrote it: the next attempt reads who holds it now.
        await read(abort).catch(() => undefined);
        // Or this one, by a write that it had given up: there may be no time for a pause.
        if (isFirst && seen?.holder === identity) return await attempt({ isFirst: false });
      }
      error = failure instanceof Error ? failure.message : String(failure);
      log.warn({ lease: name, error }, 'the lease cannot be renewed or taken');
    }
  };

  const release = async (): Promise<void> => {
    cancelDeadline();
    if (renewedMs === null) return;
    renewedMs = null;
    try {
      await withTimeout(clock, releaseTimeoutMs * slowness, async (signal) => {
        // Read anew: a renewal that was called off may have been carried out all the same.
        await read(signal);
        if (seen?.holder !== identity) return;
        await write(
          'PUT',
          { holderIdentity: '', leaseDurationSeconds: 1, leaseTransitions: seen.transitions, renewTime: nowMicro() },
          signal,
        );
      });
    } catch (failure) {
      log.warn(
        { lease: name, error: failure instanceof Error ? failure.message : String(failure) },
        'the lease could not be released; others wait until it has run out',
      );
    }
  };

  const run = async (): Promise<void> => {
    while (!abort.aborted) {
      await attempt();
      await clock.sleep(settings.retryMs * (0.9 + 0.2 * random()), abort).catch(() => undefined);
    }
    await release();
  };

  return { held: () => renewedMs !== null, holder: () => seen?.holder ?? null, error: () => error, done: run() };
}
