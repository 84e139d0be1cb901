import { request as undiciRequest } from 'undici';
import { z } from 'zod';

import type { ErrorCode } from '../../../contracts/errors.ts';
import { droverFailure } from '../../../runtime/failure.ts';
import { observed, type ObserveCall } from '../../../runtime/outside-calls.ts';
import { redactedStart } from '../../../runtime/redaction.ts';
import type { VcenterSettings } from '../../../runtime/vsphere-settings.ts';
import { defaultTimeouts, httpFailure, openAgent } from '../http.ts';
import { openSessions } from '../session.ts';

export interface RestRequest {
  method: 'GET' | 'POST' | 'DELETE';
  /** Below `/rest`, such as `/com/vmware/content/library/item`. */
  path: string;
  query?: Record<string, string>;
  body?: unknown;
  headers?: Record<string, string>;
}

/**
 * What vim25 does not have, in vCenter's older REST: content libraries and cluster modules. Each call ends when its signal is aborted, and
 * is sent once; only a session that has ended is renewed. Failures: as `Vim` has them, and `VsphereObjectNotFound`, `RequestRefused`.
 */
export interface VcenterRest {
  readonly vcenter: string;
  /** @param limitMs for the answer. Default: that of any call */
  call<Schema extends z.ZodType>(request: RestRequest, value: Schema, signal: AbortSignal, limitMs?: number): Promise<z.output<Schema>>;
  close(): Promise<void>;
}

const sessionHeader = 'vmware-api-session-id';
const sessionPath = '/com/vmware/cis/session';

/** Few calls of it at once: all else is vim25. */
const connections = 4;

/** Nothing is sent before the first call. */
export function openRest(settings: VcenterSettings, { observe, nowMs = () => performance.now() }: { observe?: ObserveCall; nowMs?: () => number } = {}): VcenterRest {
  const { name, url } = settings;
  // An OVF is deployed within one call: its limit is the caller's.
  const agent = openAgent(settings, { ...defaultTimeouts, headersMs: 0, bodyMs: 0 }, connections);
  const send = (request: RestRequest, headers: Record<string, string>, signal: AbortSignal, limitMs: number = defaultTimeouts.headersMs): Promise<{ status: number; text: string; requestId: '' }> => {
    const { method, path, query, body } = request;
    const overdue = AbortSignal.timeout(limitMs);
    const verb = `${method} ${path.split('/id:')[0] ?? path}`;
    return observed(observe, { system: 'vsphere', verb }, signal, async () => {
      try {
        const answer = await undiciRequest(`${url}/rest${path}`, {
          dispatcher: agent,
          method,
          ...(query !== undefined && { query }),
          headers: { accept: 'application/json', 'user-agent': 'drover', ...(body !== undefined && { 'content-type': 'application/json' }), ...request.headers, ...headers },
          ...(body !== undefined && { body: JSON.stringify(body) }),
          signal: AbortSignal.any([signal, overdue]),
        });
        return { status: answer.statusCode, text: await answer.body.text(), requestId: '' };
      } catch (error) {
        signal.throwIfAborted();
        if (overdue.aborted) throw droverFailure('VsphereUnavailable', `vCenter ${name}: ${verb} was not answered within ${limitMs / 1_000} s`);
        throw httpFailure(error, settings, defaultTimeouts, verb);
      }
    });
  };
  const sessions = openSessions({
    credential: settings.credential,
    nowMs,
    logIn: async ({ username, password }, signal) => {
      const basic = Buffer.from(`${username}:${password}`).toString('base64');
      const answer = await send({ method: 'POST', path: sessionPath }, { authorization: `Basic ${basic}` }, signal);
      if (answer.status === 401) throw droverFailure('VsphereCredentialRefused', `vCenter ${name} refused the login of its REST API`);
      return { cookie: valueOf(name, sessionPath, answer, z.string().min(1)) };
    },
  });
  return {
    vcenter: name,
    call: async (request, value, signal, limitMs) => {
      for (let isAgain = false; ; isAgain = true) {
        const session = await sessions.current(signal);
        const answer = await send(request, { [sessionHeader]: session.cookie }, signal, limitMs);
        if (answer.status !== 401 || isAgain) return valueOf(name, request.path, answer, value);
        sessions.forget(session);
      }
    },
    close: async () => {
      sessions.end();
      await agent.destroy();
    },
  };
}

/** `{"type": "com.vmware.vapi.std.errors.not_found", "value": {"messages": [{"default_message": "…"}]}}` */
const refusal = z.looseObject({
  type: z.string().default(''),
  value: z.looseObject({ messages: z.array(z.looseObject({ default_message: z.string().default('') })).default([]) }).default({ messages: [] }),
});

const codes: Readonly<Record<number, ErrorCode>> = { 400: 'RequestRefused', 401: 'VsphereCredentialRefused', 403: 'VsphereNotPermitted', 404: 'VsphereObjectNotFound', 409: 'VsphereBusy', 429: 'VsphereUnavailable' };

function valueOf<Schema extends z.ZodType>(vcenter: string, path: string, { status, text }: { status: number; text: string }, schema: Schema): z.output<Schema> {
  const json = parse(text);
  if (status !== 200) {
    const { type, value } = refusal.safeParse(json).data ?? { type: '', value: { messages: [] } };
    const words = redactedStart([type.split('.').at(-1) ?? '', ...value.messages.map((message) => message.default_message)].filter((word) => word !== '').join(': '), 600);
    throw droverFailure(codes[status] ?? (status >= 500 ? 'VsphereUnavailable' : 'AnswerMalformed'), `vCenter ${vcenter} answered ${status} to ${path}${words === '' ? '' : `: ${words}`}`);
  }
  const parsed = z.looseObject({ value: z.unknown() }).safeParse(json);
  const value = schema.safeParse(parsed.data?.value);
  if (parsed.success && value.success) return value.data;
  throw droverFailure('AnswerMalformed', `The answer of vCenter ${vcenter} to ${path} cannot be read: ${value.error?.issues[0]?.message ?? 'it is no JSON'}`);
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
