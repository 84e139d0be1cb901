import type { ApplicationFailure } from '@temporalio/common';
import type { z } from 'zod';

import type { ErrorCode } from '../../contracts/errors.ts';
import { droverFailure } from '../../runtime/failure.ts';
import { redactedStart } from '../../runtime/redaction.ts';
import type { KeystoneSession } from '../keystone/types.ts';
import { type Refusal, type ServiceName, type ServiceType, generalFault, refusalOf } from './faults.ts';
import type { HttpAnswer, HttpRequest } from './http.ts';

/** One request to a service, and what its answers mean. */
export interface Call<Wire> {
  method: HttpRequest['method'];
  /** Below the endpoint, already encoded. */
  path: string;
  query?: [name: string, value: string][];
  /** Pinned per call: an answer of another version has another shape. */
  microversion: string;
  /** Besides those of every call. */
  headers?: Record<string, string>;
  body?: unknown;
  /** Shape of the answer; without it, the body is not read. */
  answer?: z.ZodType<Wire>;
  /** Row of the error table for a refusal; undefined: the general one. */
  refused?: (refusal: Refusal) => ErrorCode | undefined;
}

export interface Answer<Wire> {
  value: Wire;
  requestId: string;
}

/** A service of the catalog, with the session's token and checked answers. */
export interface Endpoint {
  /** Sends a request and reads its answer. */
  call<Wire>(call: Call<Wire>, signal: AbortSignal): Promise<Answer<Wire>>;
  /** As `call`, but null when the service itself says that there is no such thing. */
  find<Wire>(call: Call<Wire>, signal: AbortSignal): Promise<Answer<Wire> | null>;
}

export interface EndpointOptions {
  service: ServiceName;
  type: ServiceType;
  /** Makes the base of all paths of the URL in the catalog. */
  base?: (catalogUrl: string) => string;
}

export function openEndpoint(session: KeystoneSession, { service, type, base = trimmed }: EndpointOptions): Endpoint {
  const attempt = async <Wire>(call: Call<Wire>, signal: AbortSignal): Promise<Outcome<Wire>> => {
    const url = new URL(base(await session.endpoint(type, signal)) + call.path);
    for (const [name, value] of call.query ?? []) url.searchParams.append(name, value);
    const headers = { ...call.headers, 'openstack-api-version': `${type} ${call.microversion}` };
    const answer = await session.use(
      (token) =>
        session.http.send(
          { service, method: call.method, url, headers: { ...headers, 'x-auth-token': token }, body: call.body },
          signal,
        ),
      signal,
    );
    if (answer.status >= 200 && answer.status < 300)
      return { answer: { value: read(call, service, url, answer), requestId: answer.requestId } };
    const refusal = refusalOf(answer.status, answer.text);
    return { refusal, failure: () => refusalFailure(call, service, url, answer, refusal) };
  };
  return {
    call: async (call, signal) => {
      const outcome = await attempt(call, signal);
      if ('refusal' in outcome) throw outcome.failure();
      return outcome.answer;
    },
    find: async (call, signal) => {
      const outcome = await attempt(call, signal);
      if (!('refusal' in outcome)) return outcome.answer;
      if (outcome.refusal.status === 404 && outcome.refusal.documented) return null;
      throw outcome.failure();
    },
  };
}

type Outcome<Wire> = { answer: Answer<Wire> } | { refusal: Refusal; failure: () => ApplicationFailure };

function read<Wire>(call: Call<Wire>, service: ServiceName, url: URL, answer: HttpAnswer): Wire {
  if (call.answer === undefined) return undefined as Wire;
  let body: unknown;
  try {
    body = JSON.parse(answer.text);
  } catch {
    // The parser's own words quote the text where it stumbled, which may be the middle of a secret.
    throw malformed(call, service, url, answer, `is no JSON: ${redactedStart(answer.text, 80)}`);
  }
  const parsed = call.answer.safeParse(body);
  if (parsed.success) return parsed.data;
  const issue = parsed.error.issues[0];
  throw malformed(
    call,
    service,
    url,
    answer,
    `has an unexpected ${issue?.path.join('.') || 'body'}: ${issue?.message ?? ''}`,
  );
}

const malformed = (call: Call<unknown>, service: ServiceName, url: URL, answer: HttpAnswer, what: string) =>
  droverFailure(
    'AnswerMalformed',
    `${service}’s answer ${answer.status} to ${call.method} ${url.pathname} ${what}${inRequest(answer)}`,
    {
      details: detailsOf(call, url, answer),
    },
  );

function refusalFailure(
  call: Call<unknown>,
  service: ServiceName,
  url: URL,
  answer: HttpAnswer,
  refusal: Refusal,
): ApplicationFailure {
  const code = call.refused?.(refusal) ?? generalFault(service, refusal);
  const detail = `${service} answered ${answer.status} to ${call.method} ${url.pathname}: ${refusal.words}${inRequest(answer)}`;
  return droverFailure(code, detail, { details: { ...detailsOf(call, url, answer), words: refusal.words } });
}

const inRequest = (answer: HttpAnswer): string => (answer.requestId === '' ? '' : ` (request ${answer.requestId})`);

const detailsOf = (call: Call<unknown>, url: URL, answer: HttpAnswer) => ({
  status: answer.status,
  requestId: answer.requestId,
  method: call.method,
  path: url.pathname,
});

const trimmed = (url: string): string => url.replace(/\/+$/u, '');
