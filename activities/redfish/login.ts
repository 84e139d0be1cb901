import type { Clock } from '../../runtime/clock.ts';
import { droverFailure } from '../../runtime/failure.ts';
import { registerSecret } from '../../runtime/redaction.ts';
import { openSessions } from '../lib/session.ts';
import { faultOf, refusalOf } from './faults.ts';
import type { Http, HttpAnswer } from './http.ts';
import type { BmcSettings } from './types.ts';

/** What proves to a BMC who asks. */
export interface Login {
  /** Sends a request with the headers of the login; once more with others where the BMC refused them, and others can be had. */
  use(send: (headers: Record<string, string>) => Promise<HttpAnswer>, signal: AbortSignal): Promise<HttpAnswer>;
  end(): Promise<void>;
}

export function basicLogin({ username, password }: BmcSettings): Login {
  const credential = Buffer.from(`${username}:${password}`).toString('base64');
  registerSecret(credential);
  const headers = { authorization: `Basic ${credential}` };
  return { use: (send) => send(headers), end: () => Promise.resolve() };
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
  const logIn = async ({ username: UserName, password: Password }: BmcSettings, signal: AbortSignal) => {
    const path = await findSessions(signal);
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
    return { token: answer.token, location: answer.location };
  };
  const sessions = openSessions({
    credential: () => Promise.resolve(settings),
    logIn,
    secretOf: ({ token }) => token,
    clock,
  });
  return {
    use: (send, signal) =>
      sessions.use(
        ({ token }) => send({ 'x-auth-token': token }),
        ({ status }) => status === 401,
        signal,
      ),
    end: () =>
      sessions.end(async ({ token, location }, signal) => {
        const path = location === null ? null : pathOf(location, settings.url);
        if (path !== null) await http.send({ method: 'DELETE', path, headers: { 'x-auth-token': token } }, signal);
      }),
  };
}

/** The path of a link, with its query; null where it leads to another place: credentials go to the BMC alone. */
export function pathOf(link: string, bmcUrl: string): string | null {
  if (!URL.canParse(link, bmcUrl)) return null;
  const url = new URL(link, bmcUrl);
  const inRedfish = url.pathname === '/redfish/v1' || url.pathname.startsWith('/redfish/v1/');
  return url.origin === new URL(bmcUrl).origin && url.username === '' && inRedfish ? url.pathname + url.search : null;
}
