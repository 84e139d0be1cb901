import { Agent, request as undiciRequest } from 'undici';
import { droverFailure } from '../../runtime/failure.ts';
import { observed, type ObserveCall } from '../../runtime/telemetry/outside-calls.ts';
import { transportFailure, type HttpTimeouts } from '../openstack/transport-faults.ts';

/** Below the 15 s that a short activity has, so that its failure says what took so long: a check may log in before it asks. */
const defaultTimeouts: HttpTimeouts = { connectMs: 3_000, headersMs: 6_000, bodyMs: 6_000 };

/** The dashboard of a cluster of thousands of pools answers with about a tenth of that. */
const largestAnswerBytes = 32 * 1024 * 1024;

export interface DashboardRequest {
  method: 'GET' | 'POST';
  /** Without a slash at the end. */
  base: string;
  /** Has no names in it, so it is also what is counted. */
  path: string;
  /** Of this endpoint: the dashboard refuses any other. `1.0` */
  version: string;
  token?: string;
  /** Sent as JSON. */
  body?: unknown;
}

export interface DashboardAnswer {
  status: number;
  text: string;
  /** Empty: the dashboard names requests in the body of refusals only. */
  requestId: '';
  /** Where a redirect points to; empty otherwise. */
  location: string;
}

export interface DashboardHttp {
  /** @throws CephUnavailable, CertificateNotTrusted, AnswerMalformed; the signal's reason */
  send(request: DashboardRequest, signal: AbortSignal): Promise<DashboardAnswer>;
  close(): Promise<void>;
}

export interface DashboardHttpOptions {
  ca: string | null;
  timeouts?: Partial<HttpTimeouts>;
  observe?: ObserveCall;
}

/** HTTP/1.1 to the dashboards of one cluster: no retries, no redirects. */
export function createDashboardHttp({ ca, observe, ...options }: DashboardHttpOptions): DashboardHttp {
  const timeouts = { ...defaultTimeouts, ...options.timeouts };
  const agent = new Agent({
    connections: 4,
    pipelining: 1,
    allowH2: false,
    headersTimeout: timeouts.headersMs,
    bodyTimeout: timeouts.bodyMs,
    maxResponseSize: largestAnswerBytes,
    connect: { timeout: timeouts.connectMs, ...(ca === null ? {} : { ca }) },
  });
  return {
    send: (request, signal) =>
      observed(observe, { system: 'ceph', verb: `${request.method} ${request.path}` }, signal, (headers) =>
        send(agent, timeouts, request, headers, signal),
      ),
    close: () => agent.destroy(),
  };
}

async function send(
  agent: Agent,
  timeouts: HttpTimeouts,
  request: DashboardRequest,
  headers: Record<string, string>,
  signal: AbortSignal,
): Promise<DashboardAnswer> {
  const { method, base, path, version, token, body } = request;
  signal.throwIfAborted();
  try {
    const answer = await undiciRequest(`${base}${path}`, {
      dispatcher: agent,
      method,
      headers: {
        ...headers,
        accept: `application/vnd.ceph.api.v${version}+json`,
        'user-agent': 'drover',
        ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      body: body === undefined ? null : JSON.stringify(body),
      signal,
    });
    const location = answer.headers['location'];
    return {
      status: answer.statusCode,
      text: await answer.body.text(),
      requestId: '',
      location: typeof location === 'string' ? location : '',
    };
  } catch (error) {
    if (signal.aborted) throw signal.reason;
    const { words, malformed, certificate } = transportFailure(
      error,
      timeouts,
      'the ca of the dashboard in drover’s settings',
    );
    const code = malformed ? 'AnswerMalformed' : certificate ? 'CertificateNotTrusted' : 'CephUnavailable';
    throw droverFailure(code, `the Ceph dashboard ${base}: ${words} (${method} ${path})`, { cause: error });
  }
}
