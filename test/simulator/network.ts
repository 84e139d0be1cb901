import type { OutsideSystem } from '../../runtime/telemetry/outside-calls.ts';
import type { VirtualClock } from './clock.ts';
import { currentProcess, runIn } from './process.ts';

/** What becomes of one call of an outside system. */
export type CallFate =
  | 'works'
  /** The request never arrives; the caller learns that the connection failed. */
  | 'failBefore'
  /** The request has its effect; the answer is lost. */
  | 'failAfter'
  /** Answered after {@link NetworkOptions.slowMs}. */
  | 'slow'
  /** Neither effect nor answer, until the caller's own time-out. */
  | 'hang';

/** One call of an outside system, as it leaves the process. */
export interface NetworkCall {
  /** Counts from 1, over the simulation. */
  number: number;
  system: OutsideSystem | 'temporal';
  /** What is done, without names and ids: `POST /servers/{id}/action os-migrateLive`. */
  verb: string;
  /** Name of the calling process. */
  process: string;
  /** The activity that calls: set by the simulated worker, null elsewhere. */
  activity: { workflowId: string; runId: string; activityId: string; activity: string; attempt: number } | null;
}

export interface NetworkOptions {
  clock: VirtualClock;
  random: () => number;
  /** Decides what becomes of each call. Default: all work. */
  onCall?: (call: NetworkCall) => CallFate;
  /** The activity that the caller runs in, if any. */
  currentActivity?: () => NetworkCall['activity'];
  /** The longest latency of one way. */
  latencyMs?: number;
  slowMs?: number;
}

/** Everything that a simulated process exchanges with an outside system goes through here. */
export interface Network {
  /**
   * Sends a request: latency, `effect`, latency. `effect` happens at one moment of virtual time and belongs to the
   * outside system: a killed caller gets no answer, but an effect that has been reached stands.
   *
   * @param lost what the real client throws when no answer comes: of each system its own failure
   * @throws what `effect` throws; the signal's reason when it is aborted; `lost()`
   */
  call<Answer>(
    call: Pick<NetworkCall, 'system' | 'verb'>,
    effect: () => Answer | Promise<Answer>,
    signal: AbortSignal,
    lost: () => Error,
  ): Promise<Answer>;
  /** Takes a system away, or gives it back: while it is away every call of it fails before its effect. */
  setAway(system: NetworkCall['system'], isAway: boolean): void;
  isAway(system: NetworkCall['system']): boolean;
  /** All calls so far, in order. */
  readonly calls: readonly (NetworkCall & { atMs: number; fate: CallFate })[];
}

const outside = { name: 'outside', isAlive: true };

export function createNetwork({
  clock,
  random,
  onCall = () => 'works',
  currentActivity = () => null,
  latencyMs = 5,
  slowMs = 5_000,
}: NetworkOptions): Network {
  const calls: (NetworkCall & { atMs: number; fate: CallFate })[] = [];
  const away = new Set<NetworkCall['system']>();

  /** Time that passes on the wire, whichever process waits for it. */
  const pass = (ms: number): Promise<void> => runIn(outside, () => clock.sleep(ms));

  return {
    calls,
    setAway: (system, isAway) => void (isAway ? away.add(system) : away.delete(system)),
    isAway: (system) => away.has(system),
    async call({ system, verb }, effect, signal, lost) {
      signal.throwIfAborted();
      const caller = currentProcess();
      const call: NetworkCall = {
        number: calls.length + 1,
        system,
        verb,
        process: caller.name,
        activity: currentActivity(),
      };
      const fate = away.has(system) ? 'failBefore' : onCall(call);
      calls.push({ ...call, atMs: clock.nowMs, fate });
      const answered = Promise.withResolvers<Awaited<ReturnType<typeof effect>>>();
      const abort = (): void => answered.reject(signal.reason);
      signal.addEventListener('abort', abort, { once: true });
      /** A process that was killed hears nothing any more. */
      const hear = (tell: () => void): void => {
        signal.removeEventListener('abort', abort);
        if (caller.isAlive) tell();
      };
      const carry = async (): Promise<void> => {
        await pass(random() * latencyMs + (fate === 'slow' ? slowMs : 0));
        if (fate === 'hang') return;
        if (fate === 'failBefore') return hear(() => answered.reject(lost()));
        // Killed or aborted before the request was sent; later, the effect stands.
        if (!caller.isAlive) return;
        try {
          const answer = await effect();
          await pass(random() * latencyMs);
          hear(() => (fate === 'failAfter' ? answered.reject(lost()) : answered.resolve(answer)));
        } catch (error) {
          await pass(random() * latencyMs);
          hear(() => answered.reject(fate === 'failAfter' ? lost() : error));
        }
      };
      void runIn(outside, carry);
      return await answered.promise;
    },
  };
}
