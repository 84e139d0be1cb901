import type { z } from 'zod';

import type { Clock } from '../../runtime/clock.ts';
import { droverFailure } from '../../runtime/failure.ts';
import { redactedStart, registerSecret } from '../../runtime/redaction.ts';
import { openSessions } from '../lib/session.ts';
import type { Http, HttpAnswer } from './http.ts';
import type { BmcSettings } from './types.ts';
import { type RequestKind, faultOf, refusalOf, serviceRoot } from './wire.ts';

/** The one path that the specification fixes. */
export const rootPath = '/redfish/v1/';

/** Requests with the login, and checked answers. */
export interface Bmc {
  get<Wire>(kind: RequestKind, path: string, shape: z.ZodType<Wire>, signal: AbortSignal): Promise<Wire>;
  post(kind: RequestKind, path: string, body: unknown, signal: AbortSignal): Promise<void>;
  /** The path of a link that the BMC or the settings gave. @throws AnswerMalformed where it leads elsewhere */
  follow(link: string, what: string): string;
  malformed(path: string, what: string): Error;
  end(): Promise<void>;
}

export function talkTo(http: Http, settings: BmcSettings, clock: Clock): Bmc {
  const at = `the BMC at ${settings.url}`;
  const malformed = (path: string, what: string) =>
    droverFailure('AnswerMalformed', `The answer of ${at} to ${path} ${what}`, { details: { path } });
  const follow = (link: string, what: string): string => {
    const path = pathOf(link, settings.url);
    if (path === null)
      throw droverFailure(
        'AnswerMalformed',
        `For ${what}, ${at} has a link that leads elsewhere: ${redactedStart(link, 200)}`,
      );
    return path;
  };
  const accept = (kind: RequestKind, method: string, path: string, answer: HttpAnswer): HttpAnswer => {
    if (answer.status >= 200 && answer.status < 300) return answer;
    const refusal = refusalOf(answer.status, answer.text);
    throw droverFailure(
      faultOf(kind, refusal),
      `The BMC at ${settings.url} answered ${answer.status} to ${method} ${path}: ${refusal.words}`,
      { details: { status: answer.status, method, path } },
    );
  };
  // The service root says, without a login, where sessions are made.
  const findSessions = async (signal: AbortSignal): Promise<string> => {
    const root = parse(
      serviceRoot,
      rootPath,
      accept('read', 'GET', rootPath, await http.send({ method: 'GET', path: rootPath, headers: {} }, signal)),
      malformed,
    );
    const link = root.Links?.Sessions?.['@odata.id'];
    if (link === undefined) throw malformed(rootPath, 'names no Sessions');
    return follow(link, 'its sessions');
  };
  const login: Login =
    settings.auth === 'basic' ? basicLogin(settings) : sessionLogin(http, settings, clock, findSessions);
  const send = (method: 'GET' | 'POST', path: string, body: unknown, signal: AbortSignal): Promise<HttpAnswer> =>
    login.use(
      (headers) => http.send({ method, path, headers, ...(body === undefined ? {} : { body }) }, signal),
      signal,
    );
  return {
    get: async (kind, path, shape, signal) =>
      parse(shape, path, accept(kind, 'GET', path, await send('GET', path, undefined, signal)), malformed),
    post: async (kind, path, body, signal) => void accept(kind, 'POST', path, await send('POST', path, body, signal)),
    follow,
    malformed,
    end: () => login.end(),
  };
}

function parse<Wire>(shape: z.ZodType<Wire>, path: string, answer: HttpAnswer, malformed: Bmc['malformed']): Wire {
  let body: unknown;
  try {
    body = JSON.parse(answer.text);
  } catch {
    throw malformed(path, `is no JSON: ${redactedStart(answer.text, 80)}`);
  }
  const parsed = shape.safeParse(body);
  if (parsed.success) return parsed.data;
  const issue = parsed.error.issues[0];
  throw malformed(path, `has an unexpected ${issue?.path.join('.') || 'body'}: ${issue?.message ?? ''}`);
}

/** What proves to a BMC who asks. */
interface Login {
  /**
   * Sends a request with the headers of the login; once more with others where the BMC refused them, and others
   * can be had.
   */
  use(send: (headers: Record<string, string>) => Promise<HttpAnswer>, signal: AbortSignal): Promise<HttpAnswer>;
  end(): Promise<void>;
}

function basicLogin({ username, password }: BmcSettings): Login {
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
function sessionLogin(
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
