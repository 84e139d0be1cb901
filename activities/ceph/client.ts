import type { ApplicationFailure } from '@temporalio/common';
import type { z } from 'zod';

import type { ErrorCode } from '../../contracts/errors.ts';
import type { Clock } from '../../runtime/clock.ts';
import { droverFailure, failureCode, failureDetail } from '../../runtime/failure.ts';
import { registerSecret } from '../../runtime/redaction.ts';
import type { ObserveCall } from '../../runtime/telemetry/outside-calls.ts';
import { type Sessions, openSessions } from '../lib/session.ts';
import { type DashboardAnswer, type DashboardHttp, createDashboardHttp } from './http.ts';
import type { CephClient, CephSettings } from './types.ts';
import { healthAnswer, jsonOf, loginFault, poolsAnswer, readFault, refusalOf, tokenAnswer } from './wire.ts';

export interface CephOptions {
  /** What the answers come by; default: a pool of connections of its own. */
  http?: DashboardHttp;
  clock: Clock;
  observe?: ObserveCall;
}

/** A cluster's client. Nothing is sent before the first question. */
export function openCeph(settings: CephSettings, options: CephOptions): CephClient {
  const { ca, timeouts } = settings;
  const http =
    options.http ??
    createDashboardHttp({ ca, ...(timeouts && { timeouts }), ...(options.observe && { observe: options.observe }) });
  const sessions = openDashboardSessions(settings, http, options.clock);

  const ask = async (session: DashboardSession, path: string, signal: AbortSignal): Promise<DashboardAnswer> => {
    try {
      return await http.send({ method: 'GET', ...session, path, version: '1.0' }, signal);
    } catch (error) {
      // Next time another manager may be the active one.
      sessions.discard(session);
      throw error;
    }
  };
  const read = async <Schema extends z.ZodType>(
    path: string,
    schema: Schema,
    signal: AbortSignal,
  ): Promise<z.output<Schema>> => {
    const { session, answer } = await sessions.use(
      async (session) => ({ session, answer: await ask(session, path, signal) }),
      ({ answer }) => answer.status === 401,
      signal,
    );
    if (answer.status === 200) return parsed(schema, session.base, path, answer);
    const refusal = refusalOf(answer.status, answer.text);
    const code = readFault(refusal);
    if (code === 'CephUnavailable') sessions.discard(session);
    throw droverFailure(
      code,
      `the Ceph dashboard ${session.base} answered ${answer.status} to GET ${path}: ${refusal.words}${refusal.requestId === '' ? '' : ` (request ${refusal.requestId.slice(0, 80)})`}`,
    );
  };
  return {
    health: async (signal) => {
      const { health } = await read('/api/health/minimal', healthAnswer, signal);
      return {
        status: health.status,
        checks: health.checks.map(({ type, severity, summary, detail = [], muted }) => ({
          type,
          severity,
          message: summary.message,
          details: detail.map(({ message }) => message),
          muted: muted ?? false,
        })),
      };
    },
    pools: async (signal) =>
      (await read('/api/pool', poolsAnswer, signal)).map(({ pool_name: name, application_metadata: applications }) => ({
        name,
        applications,
      })),
    close: async () => {
      await sessions.end();
      await http.close();
    },
  };
}

function parsed<Schema extends z.ZodType>(
  schema: Schema,
  base: string,
  path: string,
  { text }: DashboardAnswer,
): z.output<Schema> {
  const body = jsonOf(text);
  if (body === undefined)
    throw droverFailure('AnswerMalformed', `The answer of the Ceph dashboard ${base} to GET ${path} is no JSON`);
  const result = schema.safeParse(body);
  if (result.success) return result.data;
  const issue = result.error.issues[0];
  throw droverFailure(
    'AnswerMalformed',
    `The answer of the Ceph dashboard ${base} to GET ${path} has an unexpected ${issue?.path.join('.') || 'body'}: ${issue?.message ?? ''}`,
  );
}

/** Where the active manager is, and the token it gave. */
interface DashboardSession {
  base: string;
  token: string;
}

/** The dashboard locks a user after ten refused logins, and every hypervisor that is tested asks. */
const refusalHoldsMs = 60_000;

function openDashboardSessions(settings: CephSettings, http: DashboardHttp, clock: Clock): Sessions<DashboardSession> {
  registerSecret(settings.password);
  return openSessions({
    credential: () => Promise.resolve(settings),
    logIn: (credential, signal) => logIn(credential, http, signal),
    secretOf: ({ token }) => token,
    holdRefusal: { code: 'CephCredentialRefused', forMs: refusalHoldsMs },
    clock,
  });
}

/** Tries the dashboards in their order: that of a manager that stands by redirects. All of them know the same users. */
async function logIn(settings: CephSettings, http: DashboardHttp, signal: AbortSignal): Promise<DashboardSession> {
  const failures: ApplicationFailure[] = [];
  for (const dashboard of settings.dashboards) {
    const base = dashboard.replace(/\/+$/u, '');
    try {
      return { base, token: await logInAt(base, settings, http, signal) };
    } catch (error) {
      const code = failureCode(error);
      if (code === null || code === 'CephCredentialRefused') throw error;
      failures.push(error as ApplicationFailure);
    }
  }
  const [first, ...others] = failures;
  if (first === undefined) throw droverFailure('InvalidConfiguration', 'No address of a Ceph dashboard is given');
  if (others.length === 0) throw first;
  const code: ErrorCode = others.every(({ type }) => type === first.type)
    ? (failureCode(first) ?? 'CephUnavailable')
    : 'CephUnavailable';
  throw droverFailure(code, failures.map(failureDetail).join(' '));
}

async function logInAt(
  base: string,
  { user, password }: CephSettings,
  http: DashboardHttp,
  signal: AbortSignal,
): Promise<string> {
  const { status, text, location } = await http.send(
    { method: 'POST', base, path: '/api/auth', version: '1.0', body: { username: user, password } },
    signal,
  );
  if (status >= 300 && status < 400)
    throw droverFailure(
      'CephUnavailable',
      `the Ceph dashboard ${base} is not that of the active manager; it points to ${location.slice(0, 200) || 'nowhere'}`,
    );
  if (status !== 201 && status !== 200) {
    const refusal = refusalOf(status, text);
    throw droverFailure(
      loginFault(refusal),
      `the Ceph dashboard ${base} answered ${status} to the login of ${user}: ${refusal.words}`,
    );
  }
  const { data } = tokenAnswer.safeParse(jsonOf(text));
  if (data === undefined)
    throw droverFailure(
      'AnswerMalformed',
      `the Ceph dashboard ${base} answered the login with something that is no token`,
    );
  registerSecret(data.token);
  if (data.pwdUpdateRequired === true)
    throw droverFailure(
      'CephCredentialRefused',
      `${user} has to change the password at the Ceph dashboard ${base} first`,
    );
  return data.token;
}
