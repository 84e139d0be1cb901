import { z } from 'zod';

import { withTimeout, type Clock } from '../../../runtime/clock.ts';
import { droverFailure } from '../../../runtime/failure.ts';
import type { ObserveCall } from '../../../runtime/telemetry/outside-calls.ts';
import { redactedStart } from '../../../runtime/redaction.ts';
import type { VcenterSettings } from '../../../runtime/config/vsphere-settings.ts';
import type { HttpAnswer } from '../../lib/http.ts';
import { defaultTimeouts, httpFailure, openVcenterHttp, openVcenterSessions } from '../http.ts';
import { restCode } from './faults.ts';

export interface RestRequest {
  method: 'GET' | 'POST' | 'DELETE';
  /** Below `/rest`, such as `/com/vmware/content/library/item`. */
  path: string;
  query?: Record<string, string>;
  body?: unknown;
  headers?: Record<string, string>;
}

/**
 * What vim25 does not have, in vCenter's older REST: content libraries and cluster modules. Each call ends when its
 * signal is aborted, and is sent once; only a session that has ended is renewed. Failures: as `Vim` has them, and
 * `VsphereObjectNotFound`, `RequestRefused`.
 */
export interface VcenterRest {
  readonly vcenter: string;
  /** @param limitMs for the answer, of a call that takes its time. Default: that of any call */
  call<Schema extends z.ZodType>(
    request: RestRequest,
    value: Schema,
    signal: AbortSignal,
    limitMs?: number,
  ): Promise<z.output<Schema>>;
  close(): Promise<void>;
}

const sessionHeader = 'vmware-api-session-id';
const sessionPath = '/com/vmware/cis/session';

/** Of quick calls at once: all else is vim25. */
const connections = 4;

/** Nothing is sent before the first call. */
export function openRest(
  settings: VcenterSettings,
  { observe, clock }: { observe?: ObserveCall; clock: Clock },
): VcenterRest {
  const { name, url } = settings;
  const quick = openVcenterHttp(settings, defaultTimeouts, connections, observe);
  // An OVF is deployed within one call, which holds its connection for as long: it has a pool of its own, so that quick
  // calls do not wait for it.
  const patient = openVcenterHttp(
    settings,
    { ...defaultTimeouts, headersMs: 0, bodyMs: 0 },
    settings.budget.tasks,
    observe,
  );
  const send = (
    { method, path, query, body, headers: own }: RestRequest,
    headers: Record<string, string>,
    signal: AbortSignal,
    askedMs?: number,
  ): Promise<HttpAnswer> => {
    const limitMs = askedMs ?? defaultTimeouts.headersMs;
    const verb = `${method} ${withoutIds(path)}`;
    const at = new URL(`${url}/rest${path}`);
    for (const [key, value] of Object.entries(query ?? {})) at.searchParams.append(key, value);
    const http = askedMs === undefined ? quick : patient;
    return withTimeout(clock, limitMs, (overdue) =>
      http.send(
        {
          call: { system: 'vsphere', verb },
          method,
          url: at,
          headers: {
            accept: 'application/json',
            ...(body !== undefined && { 'content-type': 'application/json' }),
            ...own,
            ...headers,
          },
          body: body === undefined ? undefined : JSON.stringify(body),
          overdue,
          failure: (fault, cause) =>
            overdue.aborted
              ? droverFailure(
                  'VsphereUnavailable',
                  `vCenter ${name}: ${verb} was not answered within ${limitMs / 1_000} s`,
                )
              : httpFailure(fault, settings, verb, cause),
        },
        signal,
      ),
    );
  };
  const sessions = openVcenterSessions({
    credential: settings.credential,
    clock,
    logIn: async ({ username, password }, signal) => {
      const basic = Buffer.from(`${username}:${password}`).toString('base64');
      const answer = await send({ method: 'POST', path: sessionPath }, { authorization: `Basic ${basic}` }, signal);
      if (answer.status === 401)
        throw droverFailure('VsphereCredentialRefused', `vCenter ${name} refused the login of its REST API`);
      return { cookie: valueOf(name, sessionPath, answer, z.string().min(1)) };
    },
  });
  return {
    vcenter: name,
    call: async (request, value, signal, limitMs) => {
      const answer = await sessions.use(
        ({ cookie }) => send(request, { [sessionHeader]: cookie }, signal, limitMs),
        ({ status }) => status === 401,
        signal,
      );
      return valueOf(name, request.path, answer, value);
    },
    close: async () => {
      await sessions.end();
      await Promise.all([quick.close(), patient.close()]);
    },
  };
}

/** Names the call in metrics and errors: ids would make a name of each. */
export const withoutIds = (path: string): string => path.replaceAll(/\/(id:[^/]+|[0-9a-f]{8}-[0-9a-f-]{27})/gu, '');

/** `{"type": "com.vmware.vapi.std.errors.not_found", "value": {"messages": [{"default_message": "…"}]}}` */
const refusal = z.looseObject({
  type: z.string().default(''),
  value: z
    .looseObject({ messages: z.array(z.looseObject({ default_message: z.string().default('') })).default([]) })
    .default({ messages: [] }),
});

function valueOf<Schema extends z.ZodType>(
  vcenter: string,
  path: string,
  { status, text }: { status: number; text: string },
  schema: Schema,
): z.output<Schema> {
  // What gives nothing back answers with nothing.
  const json = text === '' ? { value: undefined } : parse(text);
  if (status !== 200) {
    const { type, value } = refusal.safeParse(json).data ?? { type: '', value: { messages: [] } };
    const words = redactedStart(
      [type.split('.').at(-1) ?? '', ...value.messages.map((message) => message.default_message)]
        .filter((word) => word !== '')
        .join(': '),
      600,
    );
    throw droverFailure(
      restCode(status, type),
      `vCenter ${vcenter} answered ${status} to ${path}${words === '' ? '' : `: ${words}`}`,
    );
  }
  const parsed = z.looseObject({ value: z.unknown() }).safeParse(json);
  const value = schema.safeParse(parsed.data?.value);
  if (parsed.success && value.success) return value.data;
  throw droverFailure(
    'AnswerMalformed',
    `The answer of vCenter ${vcenter} to ${path} cannot be read: ${value.error?.issues[0]?.message ?? 'it is no JSON'}`,
  );
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
