import type { VcenterCredential, VcenterSettings } from '../../runtime/config/vsphere-settings.ts';
import { droverFailure } from '../../runtime/failure.ts';
import { registerSecret } from '../../runtime/redaction.ts';
import type { ObserveCall } from '../../runtime/telemetry/outside-calls.ts';
import { type HttpClient, type HttpTimeouts, openHttp, type TransportFailure } from '../lib/http.ts';
import { type HeldRefusal, openSessions, type SessionOptions, type Sessions } from '../lib/session.ts';

/** Below the 15 s that a short activity has, so that its failure says what took so long. */
export const defaultTimeouts: HttpTimeouts = { connectMs: 4_000, headersMs: 11_000, bodyMs: 11_000 };

/** A page of properties of some hundred VMs has some megabytes. */
const largestAnswerBytes = 64 * 1024 * 1024;

/** vCenter drops idle connections after a while, and proxies before. */
const keepAliveMs = 4_000;

/** Of the API that requests are made for, unless they need a later one: vSphere 8.0 U1. Later servers know it. */
const oldestApiVersion = '8.0.1.0';

export interface SoapRequest {
  /** Only for messages and metrics. */
  method: string;
  body: string;
  /** `vmware_soap_session=…`; null before the login. */
  cookie: string | null;
  /** Of the API that it needs. */
  apiVersion?: string;
  /** Left out: vim25. */
  service?: 'pbm';
}

export interface SoapAnswer {
  status: number;
  text: string;
  /** The session's, where the answer sets one. */
  cookie: string | null;
  /** vCenter names no requests. */
  requestId: '';
}

export interface SoapOptions {
  timeouts?: Partial<HttpTimeouts>;
  observe?: ObserveCall;
}

/** HTTP/1.1 to one vCenter: no retries, no redirects. */
export interface SoapHttp {
  /** @throws VsphereUnavailable, CertificateNotTrusted, AnswerMalformed; the signal's reason when it is aborted */
  send(request: SoapRequest, signal: AbortSignal): Promise<SoapAnswer>;
  close(): Promise<void>;
}

export type Endpoint = Pick<VcenterSettings, 'name' | 'url' | 'ca' | 'thumbprint' | 'budget' | 'trust'>;

export function createSoapHttp(vcenter: Endpoint, options: SoapOptions = {}): SoapHttp {
  const timeouts = { ...defaultTimeouts, ...options.timeouts };
  const client = openVcenterHttp(vcenter, timeouts, vcenter.budget.calls, options.observe);
  return {
    send: async ({ method, body, cookie, apiVersion = oldestApiVersion, service }, signal) => {
      const { status, text, cookies } = await client.send(
        {
          call: { system: 'vsphere', verb: method },
          method: 'POST',
          url: new URL(`${vcenter.url}/${service ?? 'sdk'}`),
          headers: {
            'content-type': 'text/xml; charset=utf-8',
            soapaction: service === undefined ? `urn:vim25/${apiVersion}` : `urn:${service}/`,
            ...(cookie !== null && { cookie }),
          },
          body,
          failure: (fault, cause) => httpFailure(fault, vcenter, method, cause),
        },
        signal,
      );
      const session = cookies.find((one) => one.startsWith('vmware_soap_session='));
      return { status, text, cookie: session?.split(';', 1)[0] ?? null, requestId: '' };
    },
    close: () => client.close(),
  };
}

/** Connections to one vCenter, of the certificate that its settings name. */
export const openVcenterHttp = (
  { name, ca, thumbprint, trust }: Endpoint,
  timeouts: HttpTimeouts,
  connections: number,
  observe: ObserveCall | undefined,
): HttpClient =>
  openHttp({
    connections,
    keepAliveMs,
    largestAnswerBytes,
    timeouts,
    tls: { ca, thumbprint },
    trust: trust ?? `vsphere.vcenters.${name}.caFile in drover’s settings`,
    observe,
  });

/** What went wrong before there was an answer. @param what was asked for */
export const httpFailure = (
  { words, malformed, certificate }: TransportFailure,
  { name, url }: Pick<Endpoint, 'name' | 'url'>,
  what: string,
  cause?: unknown,
) =>
  droverFailure(
    malformed ? 'AnswerMalformed' : certificate ? 'CertificateNotTrusted' : 'VsphereUnavailable',
    `vCenter ${name} at ${url}: ${words} (${what})`,
    { cause },
  );

/** vCenter locks users, by default after five refused logins. */
const refusalHoldsMs = 60_000;

/** By the function that reads a credential: SOAP, REST and the watch log in with the same one. */
const refusals = new WeakMap<VcenterSettings['credential'], HeldRefusal>();

function refusalOf(credential: VcenterSettings['credential']): HeldRefusal {
  const held = refusals.get(credential) ?? { refused: null };
  refusals.set(credential, held);
  return held;
}

/** Logins at one vCenter, by SOAP or by REST: what a request is sent with is the cookie. */
export const openVcenterSessions = <Session extends { cookie: string }>({
  logIn,
  ...options
}: Pick<SessionOptions<VcenterCredential, Session>, 'credential' | 'logIn' | 'clock'>): Sessions<Session> =>
  openSessions({
    ...options,
    logIn: (credential, signal) => {
      registerSecret(credential.password);
      return logIn(credential, signal);
    },
    secretOf: ({ cookie }) => cookie.slice(cookie.indexOf('=') + 1).replaceAll('"', ''),
    holdRefusal: { code: 'VsphereCredentialRefused', forMs: refusalHoldsMs, held: refusalOf(options.credential) },
  });
