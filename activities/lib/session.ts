import { createHash } from 'node:crypto';

import type { ErrorCode } from '../../contracts/errors.ts';
import { withTimeout, type Clock } from '../../runtime/clock.ts';
import { failureCode } from '../../runtime/failure.ts';
import { forgetSecret, registerSecret } from '../../runtime/redaction.ts';
import { unlessAborted } from '../../runtime/unless-aborted.ts';

/** A login at an outside system, shared by all who speak to it with one credential. */
export interface Sessions<Session> {
  /**
   * The present session; logs in where there is none. Concurrent callers share one login, and one that gives up does
   * not end it.
   */
  current(signal: AbortSignal): Promise<Session>;
  /** Says that it is no good; does nothing when it has been replaced meanwhile. */
  discard(session: Session): void;
  /** Sends a request with the session; once more with a new one where the answer says that it is no good any more. */
  use<Answer>(
    send: (session: Session) => Promise<Answer>,
    isRefused: (answer: Answer) => boolean,
    signal: AbortSignal,
  ): Promise<Answer>;
  /** Makes no more sessions, and logs out of the last one: a courtesy that may fail. */
  end(logOut?: (session: Session, signal: AbortSignal) => Promise<unknown>): Promise<void>;
}

export interface SessionOptions<Credential, Session> {
  /** Read before each login: it may have been renewed. */
  credential: (signal: AbortSignal) => Promise<Credential>;
  logIn: (credential: Credential, signal: AbortSignal) => Promise<Session>;
  /** What of a session is secret. */
  secretOf: (session: Session) => string;
  /**
   * By the monotonic clock: from then on a new one is made before the next request. Default: it is good until
   * it is refused.
   */
  renewAtMs?: (session: Session) => number;
  /**
   * A credential that was refused is not tried again for so long: systems lock users. Default: it is tried again.
   * `held`: of all who log in with that credential; left out: of these sessions alone.
   */
  holdRefusal?: { code: ErrorCode; forMs: number; held?: HeldRefusal };
  clock: Clock;
}

/** The last refusal of a credential; null: it was not refused. */
export interface HeldRefusal {
  refused: { failure: unknown; untilMs: number; fingerprint: string } | null;
}

/** How long the end of a session may take: a BMC needs some seconds for an answer. */
const endWithinMs = 5_000;

/** Nothing is sent before the first request. */
export function openSessions<Credential, Session>({
  credential,
  logIn,
  secretOf,
  renewAtMs = () => Infinity,
  holdRefusal,
  clock,
}: SessionOptions<Credential, Session>): Sessions<Session> {
  const closed = new AbortController();
  let present: Session | null = null;
  let login: Promise<Session> | null = null;
  const held: HeldRefusal = holdRefusal?.held ?? { refused: null };
  const secrets: string[] = [];

  const renew = async (): Promise<Session> => {
    try {
      const given = await credential(closed.signal);
      const fingerprint = createHash('sha256').update(JSON.stringify(given)).digest('hex');
      const { refused } = held;
      if (refused?.fingerprint === fingerprint && clock.monotonicMs() < refused.untilMs) throw refused.failure;
      try {
        present = await logIn(given, closed.signal);
      } catch (failure) {
        if (holdRefusal !== undefined && failureCode(failure) === holdRefusal.code)
          held.refused = { failure, untilMs: clock.monotonicMs() + holdRefusal.forMs, fingerprint };
        throw failure;
      }
      held.refused = null;
      registerSecret(secretOf(present));
      secrets.push(secretOf(present));
      // The one before may still be good, and in errors that are about to be written.
      for (const old of secrets.splice(0, secrets.length - 2)) forgetSecret(old);
      return present;
    } finally {
      login = null;
    }
  };

  const sessions: Sessions<Session> = {
    current: async (signal) => {
      signal.throwIfAborted();
      closed.signal.throwIfAborted();
      if (present !== null && clock.monotonicMs() < renewAtMs(present)) return present;
      login ??= renew();
      return unlessAborted(login, signal);
    },
    discard: (session) => {
      if (present === session) present = null;
    },
    use: async (send, isRefused, signal) => {
      const session = await sessions.current(signal);
      const answer = await send(session);
      if (!isRefused(answer)) return answer;
      sessions.discard(session);
      return send(await sessions.current(signal));
    },
    end: async (logOut) => {
      closed.abort(new Error('the client was closed'));
      const last = present;
      present = null;
      if (last !== null && logOut !== undefined)
        await withTimeout(clock, endWithinMs, (signal) => logOut(last, signal)).catch(() => undefined);
      for (const secret of secrets.splice(0)) forgetSecret(secret);
    },
  };
  return sessions;
}
