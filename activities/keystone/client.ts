import type { ErrorCode } from '../../contracts/errors.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { OpenStackSettings } from '../../runtime/config/openstack-settings.ts';
import { droverFailure } from '../../runtime/failure.ts';
import { redactedStart, registerSecret } from '../../runtime/redaction.ts';
import type { ObserveCall } from '../../runtime/telemetry/outside-calls.ts';
import type { HttpTimeouts } from '../lib/http.ts';
import { openSessions } from '../lib/session.ts';
import { type Refusal, type ServiceType, generalFault, refusalOf } from '../openstack/faults.ts';
import { type Http, type HttpAnswer, type HttpOptions, createHttp } from '../openstack/http.ts';
import type { Identity, KeystoneSession } from './types.ts';
import { type WireToken, loginBody, tokenAnswer } from './wire.ts';

export interface SessionOptions {
  timeouts?: Partial<HttpTimeouts>;
  /** What the answers come by; default: a pool of connections of its own. */
  http?: Http;
  clock: Clock;
  /** Called after every call of Keystone and of the services. */
  observe?: ObserveCall;
  globalRequestId?: HttpOptions['globalRequestId'];
}

interface Token {
  value: string;
  /** By our own clock: from then on, a new one is fetched before the next request. */
  renewAtMs: number;
  content: WireToken;
}

/**
 * A token is renewed this long before it expires, or in the last tenth of a short life: a request must not
 * outlive its token.
 */
const renewalMarginMs = 60_000;

/** A session for one credential, region and interface. Nothing is sent before the first request needs it. */
export function openSession(settings: OpenStackSettings, options: SessionOptions): KeystoneSession {
  const { clock } = options;
  const http =
    options.http ??
    createHttp({
      verify: settings.verify,
      ...(settings.ca === null ? {} : { ca: settings.ca }),
      ...(settings.trust === undefined ? {} : { trust: settings.trust }),
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

  const overrides: Partial<Record<ServiceType, string>> = settings.endpointOverrides;

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
      overrides[type] ??
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
  projectId: token.project?.id ?? null,
  roles: (token.roles ?? []).map((role) => role.name),
  expiresAt: token.expires_at,
});

/**
 * What Keystone's refusal of a login means. 401: wrong, expired or deleted credential. 403: the user is locked, or the
 * credential is restricted. 404: the URL is not Keystone's.
 */
function loginFault(refusal: Refusal): ErrorCode {
  if (refusal.status === 401 || refusal.status === 403) return 'CredentialRefused';
  if (refusal.status === 404) return 'InvalidConfiguration';
  return generalFault('Keystone', refusal);
}

/**
 * The URL of a service in the token's catalog.
 * @throws EndpointNotFound saying what the catalog has instead
 */
export function endpointIn(catalog: WireToken['catalog'], type: ServiceType, region: string, iface: string): string {
  const endpoints = (catalog ?? []).filter((service) => service.type === type).flatMap((service) => service.endpoints);
  const found = endpoints.find(
    (endpoint) => endpoint.interface === iface && (endpoint.region_id ?? endpoint.region) === region,
  );
  if (found !== undefined) return httpUrl(found.url, `${iface} endpoint of type ${type} in region ${region}`);
  const others = endpoints.map(
    (endpoint) => `${endpoint.interface} in ${endpoint.region_id ?? endpoint.region ?? 'no region'}`,
  );
  const known = others.length === 0 ? 'it has none of that type' : `it has ${[...new Set(others)].join(', ')}`;
  throw droverFailure(
    'EndpointNotFound',
    `Keystone’s catalog has no ${iface} endpoint of type ${type} in region ${region}; ${known}.`,
  );
}

/** Longer than any address of a service. */
const longestUrl = 2_048;

function httpUrl(url: string, what: string): string {
  const protocol = url.length > longestUrl ? undefined : URL.parse(url)?.protocol;
  // A path is appended, so that what a URL only bears at its end is wrong too.
  if ((protocol === 'http:' || protocol === 'https:') && !/[\s\p{Cc}]/u.test(url)) return url;
  throw droverFailure(
    'EndpointNotFound',
    `Keystone’s catalog has no usable ${what}: \`${redactedStart(url, 200)}\` is no http or https URL.`,
  );
}
