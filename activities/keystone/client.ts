import type { Clock } from '../../runtime/clock.ts';
import { droverFailure } from '../../runtime/failure.ts';
import type { ObserveCall } from '../../runtime/telemetry/outside-calls.ts';
import type { OpenStackSettings } from '../../runtime/config/openstack-settings.ts';
import { registerSecret } from '../../runtime/redaction.ts';
import { openSessions } from '../lib/session.ts';
import { refusalOf } from '../openstack/faults.ts';
import { createHttp, type Http, type HttpAnswer, type HttpOptions } from '../openstack/http.ts';
import type { HttpTimeouts } from '../lib/http.ts';
import { endpointIn } from './catalog.ts';
import { loginFault } from './faults.ts';
import type { Identity, KeystoneSession } from './types.ts';
import { loginBody, tokenAnswer, type WireToken } from './wire.ts';

export interface SessionOptions {
  timeouts?: Partial<HttpTimeouts>;
  /** What the answers come by; default: a pool of connections of its own. */
  http?: Http;
  clock: Clock;
  /** Told of every call of Keystone and of the services. */
  observe?: ObserveCall;
  globalRequestId?: HttpOptions['globalRequestId'];
}

interface Token {
  value: string;
  /** By our own clock: from then on, a new one is fetched before the next request. */
  renewAtMs: number;
  content: WireToken;
}

/** A token is renewed this long before it expires, or in the last tenth of a short life: a request must not outlive its token. */
const renewalMarginMs = 60_000;

/** A session for one credential, region and interface. Nothing is sent before the first request needs it. */
export function openSession(settings: OpenStackSettings, options: SessionOptions): KeystoneSession {
  const { clock } = options;
  const http =
    options.http ??
    createHttp({
      verify: settings.verify,
      ...(settings.ca === null ? {} : { ca: settings.ca }),
      ...(options.timeouts === undefined ? {} : { timeouts: options.timeouts }),
      ...(options.observe === undefined ? {} : { observe: options.observe }),
      ...(options.globalRequestId === undefined ? {} : { globalRequestId: options.globalRequestId }),
    });
  const sessions = openSessions({
    credential: () => Promise.resolve(settings.credential),
    logIn: (credential, signal) => logIn(http, { ...settings, credential }, clock, signal),
    secretOf: ({ value }: Token) => value,
    renewAtMs: ({ renewAtMs }) => renewAtMs,
    clock,
  });

  return {
    region: settings.region,
    http,
    token: async (signal) => (await sessions.current(signal)).value,
    use: (send, signal) =>
      sessions.use(
        ({ value }) => send(value),
        ({ status }) => status === 401,
        signal,
      ),
    endpoint: async (type, signal) =>
      settings.endpointOverrides[type] ??
      endpointIn((await sessions.current(signal)).content.catalog, type, settings.region, settings.interface),
    identity: async (signal) => toIdentity((await sessions.current(signal)).content),
    close: async () => {
      await sessions.end();
      await http.close();
    },
  };
}

async function logIn(http: Http, settings: OpenStackSettings, clock: Clock, signal: AbortSignal): Promise<Token> {
  const startedMs = clock.monotonicMs();
  const url = new URL(`${settings.authUrl}/auth/tokens`);
  const answer = await http.send(
    { service: 'Keystone', method: 'POST', url, headers: {}, body: loginBody(settings.credential) },
    signal,
  );
  if (answer.status !== 201) throw refused(url, answer);
  const value = answer.headers['x-subject-token'];
  if (value === undefined || value === '') throw malformed(answer, 'has no X-Subject-Token');
  registerSecret(value);
  const content = contentOf(answer);
  const lifetimeMs = Date.parse(content.expires_at) - Date.parse(content.issued_at);
  return { value, content, renewAtMs: startedMs + lifetimeMs - Math.min(renewalMarginMs, lifetimeMs / 10) };
}

function refused(url: URL, answer: HttpAnswer) {
  const refusal = refusalOf(answer.status, answer.text);
  return droverFailure(
    loginFault(refusal),
    `Keystone at ${url.origin} answered ${answer.status} to the login: ${refusal.words}${inRequest(answer)}`,
    {
      details: {
        status: answer.status,
        requestId: answer.requestId,
        method: 'POST',
        path: url.pathname,
        words: refusal.words,
      },
    },
  );
}

function contentOf(answer: HttpAnswer): WireToken {
  let body: unknown;
  try {
    body = JSON.parse(answer.text);
  } catch {
    throw malformed(answer, 'is no JSON');
  }
  const parsed = tokenAnswer.safeParse(body);
  if (parsed.success) return parsed.data.token;
  const issue = parsed.error.issues[0];
  throw malformed(answer, `has an unexpected ${issue?.path.join('.') ?? 'body'}: ${issue?.message ?? ''}`);
}

const malformed = (answer: HttpAnswer, what: string) =>
  droverFailure('AnswerMalformed', `Keystone’s answer ${answer.status} to the login ${what}${inRequest(answer)}`);

const inRequest = (answer: HttpAnswer): string => (answer.requestId === '' ? '' : ` (request ${answer.requestId})`);

const toIdentity = (token: WireToken): Identity => ({
  user: token.user.name,
  project: token.project?.name ?? null,
  roles: (token.roles ?? []).map((role) => role.name),
  expiresAt: token.expires_at,
});
