import type { ApplicationFailure } from '@temporalio/common';
import type { ErrorCode } from '../../contracts/errors.ts';
import type { Clock } from '../../runtime/clock.ts';
import { droverFailure, failureCode, failureDetail } from '../../runtime/failure.ts';
import { registerSecret } from '../../runtime/redaction.ts';
import { openSessions, type Sessions } from '../lib/session.ts';
import { jsonOf, loginFault, refusalOf } from './faults.ts';
import type { DashboardHttp } from './http.ts';
import type { CephSettings } from './types.ts';
import { tokenAnswer } from './wire.ts';

/** Where the active manager is, and the token it gave. */
export interface DashboardSession {
  base: string;
  token: string;
}

/** The dashboard locks a user after ten refused logins, and every hypervisor that is tested asks. */
const refusalHoldsMs = 60_000;

export function openDashboardSessions(
  settings: CephSettings,
  http: DashboardHttp,
  clock: Clock,
): Sessions<DashboardSession> {
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
