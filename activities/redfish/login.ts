import { withTimeout, type Clock } from '../../runtime/clock.ts';
import { droverFailure } from '../../runtime/failure.ts';
import { forgetSecret, registerSecret } from '../../runtime/redaction.ts';
import { faultOf, refusalOf } from './faults.ts';
import type { Http } from './http.ts';
import type { BmcSettings } from './types.ts';

/** What makes a request somebody's. */
export interface Login {
  headers(signal: AbortSignal): Promise<Record<string, string>>;
  /** The BMC refused the headers: whether others can be had. */
  renew(): boolean;
  end(): Promise<void>;
}

/** How long the end of a session may take: it is a courtesy, and the work is done. */
const endWithinMs = 5_000;

export function basicLogin({ username, password }: BmcSettings): Login {
  const credential = Buffer.from(`${username}:${password}`).toString('base64');
  registerSecret(credential);
  const headers = { authorization: `Basic ${credential}` };
  return { headers: () => Promise.resolve(headers), renew: () => false, end: () => Promise.resolve() };
}

/**
 * A session of the BMC, opened before the first request.
 *
 * @param findSessions the path of the sessions, from the service root
 */
export function sessionLogin(
  http: Http,
  settings: BmcSettings,
  clock: Clock,
  findSessions: (signal: AbortSignal) => Promise<string>,
): Login {
  let current: { token: string; location: string | null } | null = null;
  let renewed = false;

  const open = async (signal: AbortSignal) => {
    const path = await findSessions(signal);
    const { username: UserName, password: Password } = settings;
    const answer = await http.send({ method: 'POST', path, headers: {}, body: { UserName, Password } }, signal);
    if (answer.status < 200 || answer.status >= 300) {
      const refusal = refusalOf(answer.status, answer.text);
      // 400 is how some BMCs say that the password is wrong.
      const code = refusal.status === 400 ? 'BmcCredentialRefused' : faultOf('login', refusal);
      throw droverFailure(code, `The BMC at ${settings.url} answered ${answer.status} to the login: ${refusal.words}`, {
        details: { status: answer.status },
      });
    }
    if (answer.token === null)
      throw droverFailure(
        'AnswerMalformed',
        `The answer ${answer.status} of the BMC at ${settings.url} to the login has no X-Auth-Token`,
      );
    registerSecret(answer.token);
    return { token: answer.token, location: answer.location };
  };

  const end = async (): Promise<void> => {
    if (current === null) return;
    const { token, location } = current;
    current = null;
    const path = location === null ? null : pathOf(location, settings.url);
    if (path !== null) {
      await withTimeout(clock, endWithinMs, (overdue) =>
        http.send({ method: 'DELETE', path, headers: { 'x-auth-token': token } }, overdue),
      ).catch(() => undefined);
    }
    forgetSecret(token);
  };

  return {
    headers: async (signal) => {
      current ??= await open(signal);
      return { 'x-auth-token': current.token };
    },
    renew: () => {
      if (current === null || renewed) return false;
      renewed = true;
      forgetSecret(current.token);
      current = null;
      return true;
    },
    end,
  };
}

/** The path of a link, with its query; null where it leads to another place: credentials go to the BMC alone. */
export function pathOf(link: string, bmcUrl: string): string | null {
  if (!URL.canParse(link, bmcUrl)) return null;
  const url = new URL(link, bmcUrl);
  const inRedfish = url.pathname === '/redfish/v1' || url.pathname.startsWith('/redfish/v1/');
  return url.origin === new URL(bmcUrl).origin && url.username === '' && inRedfish ? url.pathname + url.search : null;
}
