import { createServer, request as httpRequest } from 'node:http';
import type { ClientRequest, IncomingMessage, RequestOptions, ServerResponse } from 'node:http';
import { request as httpsRequest } from 'node:https';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';

/** What a counterpart seldom does, and a network often. */
export type ProxyFault = RequestFault | AnswerFault;

type RequestFault =
  /** Pass it on, this much later. */
  | { do: 'delay'; ms: number }
  /** Close the connection before anything reaches the counterpart. */
  | { do: 'drop' }
  /** Answer in the counterpart's place. */
  | { do: 'answer'; status: number; body: string; headers?: Readonly<Record<string, string>> };

type AnswerFault =
  /** Let it take effect, and close the connection in the place of the answer. */
  | { do: 'cut' }
  /** Pass the answer on with half of its body, and close the connection. */
  | { do: 'truncate' }
  /** Pass the answer on with a body that is no JSON. */
  | { do: 'malform' };

const isAnswerFault = (fault: ProxyFault): fault is AnswerFault =>
  fault.do === 'cut' || fault.do === 'truncate' || fault.do === 'malform';

/** One request that came by. */
export interface ProxiedCall {
  atMs: number;
  system: string;
  method: string;
  /** With the query. */
  path: string;
  /** Of `POST …/action`: which one, such as `os-migrateLive`. */
  action: string | null;
  /** Whose it is: the run that the request names (`X-OpenStack-Request-ID: req-<run id>`); null where it names none. */
  runId: string | null;
  /** The counterpart's status, or what was done to the call in its place. */
  outcome: number | ProxyFault['do'] | 'partition' | 'failed';
}

/** Decides for each request; null lets it pass. */
export type ProxyRule = (call: Pick<ProxiedCall, 'method' | 'path' | 'action'>) => ProxyFault | null;

export interface FaultProxy {
  url: string;
  /** Every request, in the order of arrival. */
  readonly calls: readonly ProxiedCall[];
  /** From now on, until the next rule. */
  inject(rule: ProxyRule): void;
  /** Every request passes again, and the partition is over. */
  cure(): void;
  /** No client reaches the counterpart any more: connections are closed, new ones at once. */
  partition(): void;
  close(): Promise<void>;
}

export interface ProxyOptions {
  system: string;
  /** The counterpart's URL; its path is kept. */
  target: string;
  /** PEM of the authority that signed the counterpart's certificate. */
  ca?: string;
}

/** Stands between drover and one counterpart that speaks HTTP(S). Plain HTTP on loopback towards drover. */
export async function openFaultProxy({ system, target, ca }: ProxyOptions): Promise<FaultProxy> {
  const base = new URL(target);
  const calls: ProxiedCall[] = [];
  const pass: ProxyRule = () => null;
  let rule = pass;
  let isApart = false;

  const onward = (request: IncomingMessage): ClientRequest => {
    const options: RequestOptions = {
      hostname: base.hostname,
      port: base.port,
      method: request.method,
      path: request.url,
      headers: { ...request.headers, host: base.host },
    };
    return base.protocol === 'https:'
      ? httpsRequest({ ...options, ...(ca === undefined ? {} : { ca }) })
      : httpRequest(options);
  };

  /** Sends the request on. */
  async function reach(request: IncomingMessage, body: Buffer, response: ServerResponse): Promise<IncomingMessage> {
    const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
    const sent = onward(request).on('response', resolve).on('error', reject);
    response.on('close', () => sent.destroy());
    sent.end(body);
    return await promise;
  }

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const method = request.method ?? '';
    const path = request.url ?? '';
    const body = await buffer(request);
    const call: ProxiedCall = {
      atMs: Date.now(),
      system,
      method,
      path,
      action: actionOf(path, body),
      runId: runOf(request),
      outcome: 'failed',
    };
    calls.push(call);
    if (isApart) {
      call.outcome = 'partition';
      return void response.destroy();
    }
    const fault = rule(call);
    if (fault !== null) call.outcome = fault.do;
    if (fault?.do === 'drop') return void response.destroy();
    if (fault?.do === 'answer') {
      return void response
        .writeHead(fault.status, {
          'content-type': 'application/json',
          'x-openstack-request-id': 'req-of-the-proxy',
          ...fault.headers,
        })
        .end(fault.body);
    }
    if (fault?.do === 'delay') await delay(fault.ms);
    const answer = await reach(request, body, response);
    if (fault !== null && isAnswerFault(fault)) return await spoil(answer, response, fault);
    if (fault === null) call.outcome = answer.statusCode ?? 502;
    response.writeHead(answer.statusCode ?? 502, answer.headers);
    answer.pipe(response);
  }

  const server = createServer((request, response) => {
    serve(request, response).catch(() => response.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}${base.pathname === '/' ? '' : base.pathname}`,
    calls,
    inject: (next) => void (rule = next),
    cure() {
      rule = pass;
      isApart = false;
    },
    partition() {
      isApart = true;
      server.closeAllConnections();
    },
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

async function spoil(answer: IncomingMessage, response: ServerResponse, fault: AnswerFault): Promise<void> {
  const whole = await buffer(answer);
  const { 'transfer-encoding': _, 'content-length': __, ...headers } = answer.headers;
  const status = answer.statusCode ?? 502;
  switch (fault.do) {
    case 'cut':
      response.destroy();
      return;
    case 'truncate':
      response.writeHead(status, { ...headers, 'content-length': String(whole.length) });
      response.write(whole.subarray(0, Math.floor(whole.length / 2)), () => response.socket?.end());
      return;
    case 'malform':
      response.writeHead(status, headers).end('{"half": ');
      return;
  }
}

/** Nova names what is to be done to a server in the body. */
function actionOf(path: string, body: Buffer): string | null {
  if (!path.endsWith('/action')) return null;
  try {
    return Object.keys(JSON.parse(body.toString('utf8')) as object)[0] ?? null;
  } catch {
    return null;
  }
}

const runOf = ({ headers }: IncomingMessage): string | null =>
  /^req-([\da-f-]{36})$/u.exec(String(headers['x-openstack-request-id'] ?? ''))?.[1] ?? null;
