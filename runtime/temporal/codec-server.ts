import { timingSafeEqual, createHash } from 'node:crypto';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import { isIP, type AddressInfo } from 'node:net';
import type { Payload, PayloadCodec } from '@temporalio/common';
import { droverFailure, failureCode } from '../failure.ts';
import type { Logger } from '../telemetry/logging.ts';
import { readCodecRequest, writeCodecAnswer } from './codec-request.ts';

/** Who may ask, and from where. A client that may decode reads everything that workflows carry. */
export interface CodecServerSettings {
  /** host:port; port 0 takes a free one. Other than loopback needs a token. */
  listen: string;
  /** Of the Web UI, as `https://temporal.example`: its pages may ask. Null: no page of a browser may. */
  origin: string | null;
  /**
   * What callers send as `Authorization: Bearer …`. Null: every client that reaches the address, so on loopback only.
   */
  token: string | null;
}

export interface CodecServer {
  /** `http://host:port` */
  url: string;
  close(): Promise<void>;
}

/** A page of a history in base64, with room; Temporal itself takes no message over 4 MiB. */
const largestBodyBytes = 16 * 1024 * 1024;

const requestTimeoutMs = 10_000;

/** An answer, and nothing of why beyond what the caller may know. */
class Refusal extends Error {
  readonly status: number;
  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

/**
 * Serves Temporal's remote codec for the Web UI and for `temporal --codec-endpoint`: `POST /encode` and `POST /decode`
 * of payloads as JSON.
 *
 * @throws InvalidConfiguration when the address cannot be had, or would let every client decode
 */
export async function serveCodec(
  codec: PayloadCodec,
  settings: CodecServerSettings,
  log: Logger,
): Promise<CodecServer> {
  const { host, port } = addressOf(settings.listen);
  if (settings.token === null && !isLoopback(host)) {
    throw droverFailure(
      'InvalidConfiguration',
      `Every client that reaches ${settings.listen} could decode all payloads: give a token file, or listen on 127.0.0.1.`,
    );
  }
  const server = createServer(
    {
      requestTimeout: requestTimeoutMs,
      headersTimeout: requestTimeoutMs / 2,
      keepAliveTimeout: 5_000,
      maxHeaderSize: 16_384,
    },
    (request, response) => {
      const origin = allowedOrigin(request, settings);
      const headers = {
        'content-type': 'application/json',
        'cache-control': 'no-store',
        'x-content-type-options': 'nosniff',
        vary: 'Origin',
        ...(origin !== null && {
          'access-control-allow-origin': origin,
          'access-control-allow-methods': 'POST, OPTIONS',
          'access-control-allow-headers': 'Authorization, Content-Type, X-Namespace',
          'access-control-max-age': '600',
        }),
      };
      void answer(codec, request, settings, host, log).then(
        (body) => response.writeHead(body === null ? 204 : 200, headers).end(body),
        (error: unknown) => {
          const status = error instanceof Refusal ? error.status : failureCode(error) === null ? 500 : 400;
          // What is no refusal and no row of the table is a defect; its words are for the log.
          const message = status === 500 ? 'a fault of drover' : (error as Error).message;
          log[status === 500 ? 'error' : 'warn'](
            {
              status,
              error: status === 500 ? error : message,
              path: request.url,
              remote: request.socket.remoteAddress,
            },
            'refused',
          );
          response.writeHead(status, headers).end(JSON.stringify({ message }));
          // A caller that is still sending reads the answer afterwards; the time-out bounds how long that is.
          request.resume();
        },
      );
    },
  );
  server.maxConnections = 100;
  await listening(server, settings.listen, host, port);
  const { address, port: bound, family } = server.address() as AddressInfo;
  return {
    url: `http://${family === 'IPv6' ? `[${address}]` : address}:${bound}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** The body of the answer; null for what a browser asks beforehand. */
async function answer(
  codec: PayloadCodec,
  request: IncomingMessage,
  settings: CodecServerSettings,
  host: string,
  log: Logger,
): Promise<string | null> {
  refuseForeignHost(request, settings, host);
  if (request.headers.origin !== undefined && allowedOrigin(request, settings) === null)
    throw new Refusal(403, 'this origin may not ask');
  if (request.method === 'OPTIONS') return null;
  const verb = request.url === '/encode' || request.url === '/decode' ? request.url.slice(1) : null;
  if (verb === null) throw new Refusal(404, 'there are /encode and /decode');
  if (request.method !== 'POST') throw new Refusal(405, 'POST it');
  authorize(request, settings.token);
  // A form of a foreign page can be sent without asking beforehand, JSON cannot.
  if (!/^application\/json\b/iu.test(request.headers['content-type'] ?? ''))
    throw new Refusal(415, 'send application/json');
  const payloads: Payload[] = readCodecRequest(await readBody(request));
  const made = verb === 'encode' ? await codec.encode(payloads) : await codec.decode(payloads);
  log.info(
    {
      verb,
      payloads: payloads.length,
      namespace: request.headers['x-namespace'],
      remote: request.socket.remoteAddress,
      origin: request.headers.origin,
    },
    'answered',
  );
  return writeCodecAnswer(made);
}

const allowedOrigin = ({ headers }: IncomingMessage, { origin }: CodecServerSettings): string | null =>
  origin !== null && headers.origin === origin ? origin : null;

/**
 * A name that another party points to 127.0.0.1 would make a foreign page the server's own. With a token
 * that gains nothing.
 */
function refuseForeignHost({ headers }: IncomingMessage, { token }: CodecServerSettings, host: string): void {
  const named = (headers.host ?? '').replace(/:\d+$/u, '').replace(/^\[|\]$/gu, '');
  if (token === null && named !== host && !isLoopback(named))
    throw new Refusal(403, 'ask by the address that it listens on');
}

/** Compares digests, so that the time says nothing of how much was right. */
function authorize({ headers }: IncomingMessage, token: string | null): void {
  if (token === null) return;
  const digest = (text: string): Buffer => createHash('sha256').update(text).digest();
  if (!timingSafeEqual(digest(headers.authorization ?? ''), digest(`Bearer ${token}`)))
    throw new Refusal(401, 'send the token as Authorization: Bearer …');
}

async function readBody(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  // Giving up must not take the connection along, on which the answer is still to go.
  for await (const chunk of request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > largestBodyBytes) throw new Refusal(413, `at most ${largestBodyBytes} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

function addressOf(listen: string): { host: string; port: number } {
  const colon = listen.lastIndexOf(':');
  const port = Number(listen.slice(colon + 1));
  if (colon < 1 || !/^\d{1,5}$/u.test(listen.slice(colon + 1)) || port > 65_535)
    throw droverFailure('InvalidConfiguration', `\`${listen}\` is no host:port, such as 127.0.0.1:8234.`);
  return { host: listen.slice(0, colon).replace(/^\[|\]$/gu, ''), port };
}

const isLoopback = (host: string): boolean =>
  host === 'localhost' || host === '::1' || (isIP(host) === 4 && host.startsWith('127.'));

const listening = (server: Server, listen: string, host: string, port: number): Promise<void> =>
  new Promise((resolve, reject) => {
    server.once('error', (error) =>
      reject(
        droverFailure('InvalidConfiguration', `The address ${listen} cannot be had: ${error.message}`, {
          cause: error,
        }),
      ),
    );
    server.listen(port, host, resolve);
  });
