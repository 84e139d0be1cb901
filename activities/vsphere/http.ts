import { createHash } from 'node:crypto';
import type { TLSSocket } from 'node:tls';

import { Agent, buildConnector, request as undiciRequest } from 'undici';

import { droverFailure } from '../../runtime/failure.ts';
import { observed, type ObserveCall } from '../../runtime/telemetry/outside-calls.ts';
import type { VcenterSettings } from '../../runtime/config/vsphere-settings.ts';
import { transportFailure, type HttpTimeouts } from '../openstack/transport-faults.ts';

/** Below the 15 s that a short activity has, so that its failure says what took so long. */
export const defaultTimeouts: HttpTimeouts = { connectMs: 4_000, headersMs: 11_000, bodyMs: 11_000 };

/** A page of properties of some hundred VMs has some megabytes. */
const largestAnswerBytes = 64 * 1024 * 1024;

/** vCenter drops idle connections after a while, and proxies before. */
const keepAliveMs = 4_000;

/** Of the API that requests are made for, unless they need a later one: vSphere 8.0 U1. Later servers know it. */
const oldestApiVersion = '8.0.1.0';

const certificateCode = 'DROVER_THUMBPRINT';

export interface SoapRequest {
  /** Only told and counted. */
  method: string;
  body: string;
  /** `vmware_soap_session=…`; null before the login. */
  cookie: string | null;
  /** Of the API that it needs. */
  apiVersion?: string;
}

export interface SoapAnswer {
  status: number;
  text: string;
  /** The session's, where the answer sets one. */
  cookie: string | null;
  /** vCenter names no requests. */
  requestId: '';
}

export interface HttpOptions {
  timeouts?: Partial<HttpTimeouts>;
  observe?: ObserveCall;
}

/** HTTP/1.1 to one vCenter: no retries, no redirects. */
export interface SoapHttp {
  /** @throws VsphereUnavailable, CertificateNotTrusted, AnswerMalformed; the signal's reason when it is aborted */
  send(request: SoapRequest, signal: AbortSignal): Promise<SoapAnswer>;
  close(): Promise<void>;
}

export type Endpoint = Pick<VcenterSettings, 'name' | 'url' | 'ca' | 'thumbprint' | 'budget'>;

export function createSoapHttp(vcenter: Endpoint, options: HttpOptions = {}): SoapHttp {
  const timeouts = { ...defaultTimeouts, ...options.timeouts };
  const agent = openAgent(vcenter, timeouts, vcenter.budget.calls);
  return {
    send: (request, signal) =>
      observed(options.observe, { system: 'vsphere', verb: request.method }, signal, () =>
        send(agent, vcenter, timeouts, request, signal),
      ),
    close: () => agent.destroy(),
  };
}

/** Connections to one vCenter, of the certificate that its settings name. */
export const openAgent = (vcenter: Endpoint, timeouts: HttpTimeouts, connections: number): Agent =>
  new Agent({
    connections,
    pipelining: 1,
    allowH2: false,
    keepAliveTimeout: keepAliveMs,
    headersTimeout: timeouts.headersMs,
    bodyTimeout: timeouts.bodyMs,
    maxResponseSize: largestAnswerBytes,
    connect:
      vcenter.thumbprint === null
        ? { timeout: timeouts.connectMs, ...(vcenter.ca === null ? {} : { ca: vcenter.ca }) }
        : pinned(vcenter.thumbprint, timeouts.connectMs),
  });

/** Takes the one certificate, whoever signed it, before anything is sent. A resumed session would not show the certificate. */
function pinned(thumbprint: string, timeoutMs: number): buildConnector.connector {
  const connect = buildConnector({ timeout: timeoutMs, rejectUnauthorized: false, maxCachedSessions: 0 });
  return (options, callback) =>
    connect(options, (error, socket) => {
      if (error !== null || socket === null) return callback(error ?? new Error('no connection'), null);
      const seen = createHash('sha256')
        .update((socket as TLSSocket).getPeerCertificate().raw ?? '')
        .digest('hex');
      if (seen === thumbprint) return callback(null, socket);
      socket.destroy();
      callback(Object.assign(new Error(`its certificate has the thumbprint ${seen}`), { code: certificateCode }), null);
    });
}

async function send(
  agent: Agent,
  { name, url }: Endpoint,
  timeouts: HttpTimeouts,
  { method, body, cookie, apiVersion = oldestApiVersion }: SoapRequest,
  signal: AbortSignal,
): Promise<SoapAnswer> {
  signal.throwIfAborted();
  try {
    const answer = await undiciRequest(`${url}/sdk`, {
      dispatcher: agent,
      method: 'POST',
      headers: {
        'content-type': 'text/xml; charset=utf-8',
        soapaction: `urn:vim25/${apiVersion}`,
        'user-agent': 'drover',
        ...(cookie === null ? {} : { cookie }),
      },
      body,
      signal,
    });
    return {
      status: answer.statusCode,
      text: await answer.body.text(),
      cookie: sessionCookie(answer.headers['set-cookie']),
      requestId: '',
    };
  } catch (error) {
    if (signal.aborted) throw signal.reason;
    throw httpFailure(error, { name, url }, timeouts, method);
  }
}

/** What went wrong before there was an answer. @param what was asked for */
export function httpFailure(
  error: unknown,
  { name, url }: Pick<Endpoint, 'name' | 'url'>,
  timeouts: HttpTimeouts,
  what: string,
) {
  const who = `vCenter ${name} at ${url}`;
  if (isThumbprint(error))
    return droverFailure(
      'CertificateNotTrusted',
      `${who}: ${error.message}, not the one in drover’s settings (${what})`,
      { cause: error },
    );
  const { words, malformed, certificate } = transportFailure(
    error,
    timeouts,
    `vsphere.vcenters.${name}.caFile in drover’s settings`,
  );
  return droverFailure(
    malformed ? 'AnswerMalformed' : certificate ? 'CertificateNotTrusted' : 'VsphereUnavailable',
    `${who}: ${words} (${what})`,
    { cause: error },
  );
}

const isThumbprint = (error: unknown): error is Error =>
  typeof error === 'object' && error !== null && 'code' in error && error.code === certificateCode;

function sessionCookie(header: string | string[] | undefined): string | null {
  const found = [header ?? []].flat().find((cookie) => cookie.startsWith('vmware_soap_session='));
  return found?.split(';', 1)[0] ?? null;
}
