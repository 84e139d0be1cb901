import { HttpMethod, RequestContext } from '@kubernetes/client-node';
import type { KubeConfig } from '@kubernetes/client-node';
import { request as send } from 'undici';
import type { Dispatcher } from 'undici';

import { droverFailure, failureCode } from '../failure.ts';
import { limitLogin, loadKubeConfig } from './kube-config.ts';
import type { KubeConfigOptions } from './kube-config.ts';
import { refusalFailure, transportFailure } from './kubernetes-faults.ts';
import { kubernetesVerb } from './kubernetes-verb.ts';
import type { ObserveCall } from '../telemetry/outside-calls.ts';
import { observed } from '../telemetry/outside-calls.ts';
import { forgetSecret, registerSecret } from '../redaction.ts';
import { unlessAborted } from '../unless-aborted.ts';

/** How a PATCH body is meant. kube-apiserver refuses a patch that does not say. */
export const patchTypes = {
  merge: 'application/merge-patch+json',
  /** Server-side apply; needs `fieldManager` in the query. JSON is YAML. */
  apply: 'application/apply-patch+yaml',
} as const;

export interface KubernetesRequest {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** From `/api/…` or `/apis/…` on; names in it are encoded by `resourcePath`. */
  path: string;
  query?: Record<string, string | number | boolean | undefined>;
  /** Sent as JSON. */
  body?: unknown;
  /** Of what is read: nothing but the metadata, such as that of a Secret. */
  metadataOnly?: true;
  /** Needed with PATCH. */
  patchType?: keyof typeof patchTypes;
}

/**
 * kube-apiserver as JSON over HTTP. The generated classes of the client library lose fields they do not know and need
 * headers by hand; from it come kubeconfig, authentication and TLS. Failures are rows of contracts/errors.ts:
 * KubernetesUnavailable, KubernetesForbidden, ObjectNotFound, ObjectConflict, ObjectRefused, AnswerMalformed. Nothing
 * is tried again here.
 */
export interface Kubernetes {
  /** URL of kube-apiserver. */
  readonly server: string;
  /** The parsed answer. @throws the signal's reason when it is aborted */
  request(request: KubernetesRequest, signal: AbortSignal): Promise<unknown>;
  /** An answer without end, such as a watch: the time-out is for its beginning only, and for the login before it. */
  stream(request: KubernetesRequest, signal: AbortSignal): Promise<AsyncIterable<Uint8Array>>;
  /** Cuts the connections. */
  close(): Promise<void>;
}

export interface KubernetesOptions extends KubeConfigOptions {
  /** From the request, after any login, to the end of the answer. Below the 15 s that a short activity has. Default 10 000. */
  requestTimeoutMs?: number;
  /** Of what the kubeconfig has run for a credential. Default: as a request; longer where a user may have to log in. */
  loginTimeoutMs?: number;
  observe?: ObserveCall;
}

/** `PartialObjectMetadata` of `meta.k8s.io/v1`. */
const metadataMediaType = 'application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io';

/** Reads the kubeconfig; the first connection is made by the first request. @throws InvalidConfiguration */
export function connectKubernetes({
  requestTimeoutMs = 10_000,
  loginTimeoutMs = requestTimeoutMs,
  observe,
  ...options
}: KubernetesOptions = {}): Kubernetes {
  const config = loadKubeConfig(options);
  const server = (config.getCurrentCluster()?.server ?? '').replace(/\/+$/u, '');
  limitLogin(config, loginTimeoutMs);
  const authorize = createAuthorize(config, server, loginTimeoutMs);
  let last: Dispatcher | undefined;

  /** @param of.isStream the time-out is for the beginning of the answer only */
  async function open(
    request: KubernetesRequest,
    what: string,
    signal: AbortSignal,
    { more = {}, isStream = false }: { more?: Record<string, string>; isStream?: boolean } = {},
  ): Promise<Dispatcher.ResponseData> {
    signal.throwIfAborted();
    const url = new URL(`${server}${request.path}`);
    for (const [name, value] of Object.entries(request.query ?? {}))
      if (value !== undefined) url.searchParams.set(name, String(value));
    // Others may wait for the same login, which began earlier or ends later.
    const login = AbortSignal.any([signal, AbortSignal.timeout(loginTimeoutMs)]);
    const { headers, dispatcher } = await unlessAborted(authorize(), login).catch((error: unknown) => {
      throw transportFailure(error, what, 'the login that the kubeconfig names');
    });
    last = dispatcher;
    const limited = isStream ? signal : AbortSignal.any([signal, AbortSignal.timeout(requestTimeoutMs)]);
    try {
      return await send(url, {
        method: request.method,
        headers: {
          accept: request.metadataOnly === true ? metadataMediaType : 'application/json',
          'user-agent': 'drover',
          ...headers,
          ...more,
          ...(request.body === undefined
            ? {}
            : { 'content-type': request.patchType === undefined ? 'application/json' : patchTypes[request.patchType] }),
        },
        body: request.body === undefined ? null : JSON.stringify(request.body),
        signal: limited,
        headersTimeout: requestTimeoutMs,
        bodyTimeout: 0,
        ...(dispatcher === undefined ? {} : { dispatcher }),
      });
    } catch (error) {
      throw transportFailure(error, what, server);
    }
  }

  /** Whether kube-apiserver is through with starting: until then it refuses what it will permit in a moment. */
  const isReady = async (signal: AbortSignal): Promise<boolean> => {
    try {
      const { statusCode, body } = await open({ method: 'GET', path: '/readyz' }, 'GET /readyz', signal);
      await body.dump();
      return statusCode === 200;
    } catch {
      return false;
    }
  };

  async function refusal(
    statusCode: number,
    text: string,
    what: string,
    retryAfter: string,
    signal: AbortSignal,
  ): Promise<Error> {
    if ((statusCode === 401 || statusCode === 403) && !(await isReady(signal))) {
      return droverFailure('KubernetesUnavailable', `${what}: kube-apiserver answered ${statusCode} and is not ready`, {
        details: { httpStatus: statusCode, reason: '' },
      });
    }
    return refusalFailure(statusCode, text, what, retryAfter);
  }

  return {
    server,

    async request(request, signal) {
      const what = `${request.method} ${request.path}`;
      const { status, text, retryAfter } = await observed(observe, callOf(request), signal, async (more) => {
        const { statusCode, headers, body } = await open(request, what, signal, { more }).catch((error: unknown) => {
          signal.throwIfAborted();
          throw error;
        });
        const text = await readText(body, what).catch((error: unknown) => {
          signal.throwIfAborted();
          throw failureCode(error) === null ? transportFailure(error, what, server) : error;
        });
        return {
          status: statusCode,
          requestId: header(headers, 'audit-id'),
          text,
          retryAfter: header(headers, 'retry-after'),
        };
      });
      if (status < 200 || status > 299) throw await refusal(status, text, what, retryAfter, signal);
      try {
        return JSON.parse(text) as unknown;
      } catch {
        throw droverFailure('AnswerMalformed', `${what}: the answer is no JSON`);
      }
    },

    async stream(request, signal) {
      const what = `${request.method} ${request.path}`;
      const { status, body, retryAfter } = await observed(observe, callOf(request), signal, async (more) => {
        const { statusCode, headers, body } = await open(request, what, signal, { more, isStream: true }).catch(
          (error: unknown) => {
            signal.throwIfAborted();
            throw error;
          },
        );
        return {
          status: statusCode,
          requestId: header(headers, 'audit-id'),
          body,
          retryAfter: header(headers, 'retry-after'),
        };
      });
      if (status >= 200 && status <= 299) return body;
      throw await refusal(status, await readText(body, what).catch(() => ''), what, retryAfter, signal);
    },

    async close() {
      await last?.destroy();
    },
  };
}

/**
 * A page of objects has some megabytes; kubeconfigs of others may lead anywhere. Not a limit of the dispatcher, as
 * watches go by it too, which have no end.
 */
const largestAnswerBytes = 64 * 1024 * 1024;

/** @throws AnswerMalformed where it is too large */
async function readText(body: Dispatcher.ResponseData['body'], what: string): Promise<string> {
  const parts: Buffer[] = [];
  let size = 0;
  for await (const part of body as AsyncIterable<Buffer>) {
    size += part.length;
    // Leaving the loop ends the connection.
    if (size > largestAnswerBytes)
      throw droverFailure('AnswerMalformed', `${what}: the answer is larger than ${largestAnswerBytes} bytes`);
    parts.push(part);
  }
  return Buffer.concat(parts).toString('utf8');
}

const callOf = (request: KubernetesRequest) => ({ system: 'kubernetes', verb: kubernetesVerb(request) }) as const;

/** `audit-id` is kube-apiserver's own id of a request, as its audit log has it. Empty where there is none. */
function header(headers: Dispatcher.ResponseData['headers'], name: 'audit-id' | 'retry-after'): string {
  const value = headers[name];
  return typeof value === 'string' ? value : '';
}

interface Login {
  headers: Record<string, string>;
  dispatcher: Dispatcher | undefined;
}

/**
 * Headers and connection pool for a request, from the kubeconfig: tokens, certificates, exec plug-ins. Requests that
 * come while a login is under way wait for that one.
 */
function createAuthorize(config: KubeConfig, server: string, timeoutMs: number): () => Promise<Login> {
  let lastCredential = '';
  let underWay: Promise<Login> | null = null;
  const login = async (): Promise<Login> => {
    const context = new RequestContext(server, HttpMethod.GET);
    await config.applySecurityAuthentication(context);
    const headers = context.getHeaders();
    const credential = (headers['Authorization'] ?? '').replace(/^\S+\s+/u, '');
    if (credential !== lastCredential) {
      forgetSecret(lastCredential);
      registerSecret(credential);
      lastCredential = credential;
    }
    return { headers, dispatcher: context.getDispatcher() };
  };
  // One that hangs, such as at a provider of OpenID Connect, is not what later requests wait for.
  const begin = (): Promise<Login> =>
    unlessAborted(login(), AbortSignal.timeout(timeoutMs)).finally(() => (underWay = null));
  return () => (underWay ??= begin());
}
