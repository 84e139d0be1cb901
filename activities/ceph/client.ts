import type { z } from 'zod';
import type { Clock } from '../../runtime/clock.ts';
import { droverFailure } from '../../runtime/failure.ts';
import type { ObserveCall } from '../../runtime/telemetry/outside-calls.ts';
import { jsonOf, readFault, refusalOf } from './faults.ts';
import { createDashboardHttp, type DashboardAnswer, type DashboardHttp } from './http.ts';
import { type DashboardSession, openDashboardSessions } from './session.ts';
import type { CephClient, CephSettings } from './types.ts';
import { healthAnswer, poolsAnswer } from './wire.ts';

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
      sessions.forget(session);
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
    if (code === 'CephUnavailable') sessions.forget(session);
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
        checks: health.checks.map(({ type, severity, summary, muted }) => ({
          type,
          severity,
          message: summary.message,
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
