import { createHash } from 'node:crypto';

import type { Clock } from '../../runtime/clock.ts';
import { droverFailure, failureCode } from '../../runtime/failure.ts';
import { forgetSecret, registerSecret } from '../../runtime/redaction.ts';
import { unlessAborted } from '../../runtime/unless-aborted.ts';
import type { VcenterCredential } from '../../runtime/config/vsphere-settings.ts';
import type { ServiceContent } from './wire/vim/types.ts';

/** A login at one vCenter, shared by all who speak to it with one credential. */
export interface VcenterSession {
  cookie: string;
  /** Where a client begins: the objects that every vCenter has. */
  content: ServiceContent;
}

/** Any kind of login: what a request is sent with. */
interface Login {
  cookie: string;
}

export interface Sessions<Session extends Login> {
  /** The present session; logs in where there is none. Concurrent callers share one login. */
  current(signal: AbortSignal): Promise<Session>;
  /** Says that it is no good; does nothing when it has been replaced meanwhile. */
  forget(session: Session): void;
  /** The session that is to be ended, if there is one; none is made any more. */
  end(): Session | null;
}

export interface SessionOptions<Session extends Login> {
  credential: (signal: AbortSignal) => Promise<VcenterCredential>;
  logIn: (credential: VcenterCredential, signal: AbortSignal) => Promise<Session>;
  clock: Clock;
}

/** A credential that was refused is not tried again for so long: vCenter locks users, by default after five times. */
const refusalHoldsMs = 60_000;

export function openSessions<Session extends Login>({
  credential,
  logIn,
  clock,
}: SessionOptions<Session>): Sessions<Session> {
  const closed = new AbortController();
  let current: Session | null = null;
  let login: Promise<Session> | null = null;
  let refused: { failure: unknown; untilMs: number; credential: string } | null = null;
  const recent: string[] = [];

  const renew = async (): Promise<Session> => {
    try {
      const given = await credential(closed.signal);
      registerSecret(given.password);
      const fingerprint = createHash('sha256')
        .update(JSON.stringify([given.username, given.password]))
        .digest('hex');
      if (refused !== null && refused.credential === fingerprint && clock.monotonicMs() < refused.untilMs)
        throw refused.failure;
      try {
        current = await logIn(given, closed.signal);
      } catch (failure) {
        if (failureCode(failure) === 'VsphereCredentialRefused')
          refused = { failure, untilMs: clock.monotonicMs() + refusalHoldsMs, credential: fingerprint };
        throw failure;
      }
      refused = null;
      registerSecret(secretOf(current));
      recent.push(secretOf(current));
      // The cookie before this one may still be good, and in errors that are about to be written.
      for (const old of recent.splice(0, recent.length - 2)) forgetSecret(old);
      return current;
    } finally {
      login = null;
    }
  };
  return {
    current: async (signal) => {
      signal.throwIfAborted();
      if (closed.signal.aborted) throw droverFailure('VsphereUnavailable', 'The client of this vCenter was closed');
      if (current !== null) return current;
      login ??= renew();
      return unlessAborted(login, signal);
    },
    forget: (session) => {
      if (current === session) current = null;
    },
    end: () => {
      closed.abort(new Error('the client was closed'));
      const last = current;
      current = null;
      return last;
    },
  };
}

const secretOf = ({ cookie }: Login): string => cookie.slice(cookie.indexOf('=') + 1).replaceAll('"', '');
