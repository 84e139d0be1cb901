import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createTlsServer, type ServerOptions } from 'node:https';
import type { AddressInfo } from 'node:net';

/** What becomes of an answer with the ISO. */
export type IsoFault =
  /** The connection is cut after so many bytes of the answer. */
  | { does: 'cut'; afterBytes: number }
  /** As many come, and nothing more. */
  | { does: 'stall'; afterBytes: number }
  | { does: 'status'; status: number }
  | { does: 'redirect'; location: string }
  /** The length that it announces is another one. */
  | { does: 'lie'; length: number }
  /** It has no end. */
  | { does: 'flood' }
  /** A page that says what is wrong, with a status that says that nothing is. */
  | { does: 'page' };

export interface IsoRequest {
  method: string;
  /** With its query. */
  path: string;
  range: string | null;
  ifRange: string | null;
  ifNoneMatch: string | null;
  /** 0: no answer yet. */
  status: number;
}

/** An HTTP server of one disc image, which serves ranges as assisted-image-service does; and its faults. */
export interface IsoServer {
  /** Without a slash at the end. */
  readonly url: string;
  readonly requests: readonly IsoRequest[];
  /** From the next request on. */
  setImage(image: Buffer): void;
  /** For the next requests, one each. */
  inject(...faults: IsoFault[]): void;
  close(): Promise<void>;
}

export interface IsoServerOptions {
  image: Buffer;
  port?: number;
  tls?: ServerOptions;
  /** What it says of the version of the image. Default: a strong ETag. */
  validator?: 'etag' | 'weak' | 'lastModified' | 'none';
}

const lastModified = 'Thu, 01 Jan 2026 00:00:00 GMT';

export async function startIsoServer({
  image: first,
  port = 0,
  tls,
  validator = 'etag',
}: IsoServerOptions): Promise<IsoServer> {
  let image = first;
  const requests: IsoRequest[] = [];
  const faults: IsoFault[] = [];
  const listener = (request: IncomingMessage, response: ServerResponse): void => {
    const { method = '', url: path = '', headers } = request;
    const { range = null, 'if-range': ifRange = null, 'if-none-match': ifNoneMatch = null } = headers;
    const arrived = { method, path, range, ifRange: ifRange as string | null, ifNoneMatch, status: 0 };
    requests.push(arrived);
    const fault = faults.shift();
    response.on('finish', () => void (arrived.status = response.statusCode));
    if (fault !== undefined && answerFault(fault, image, response)) return;
    serve(image, arrived, validator, response, fault);
  };
  const server = tls === undefined ? createServer(listener) : createTlsServer(tls, listener);
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `${tls === undefined ? 'http' : 'https'}://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    setImage: (next) => void (image = next),
    inject: (...added) => void faults.push(...added),
    close: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

export const etagOf = (image: Buffer): string => `"${createHash('sha256').update(image).digest('hex').slice(0, 16)}"`;

/** Returns whether that is the answer; else it is one with the fault. */
function answerFault(fault: IsoFault, image: Buffer, response: ServerResponse): boolean {
  switch (fault.does) {
    case 'status':
      response.writeHead(fault.status, { 'content-type': 'text/plain' }).end('no');
      return true;
    case 'redirect':
      response.writeHead(302, { location: fault.location }).end();
      return true;
    case 'lie':
      response.writeHead(200, { 'content-length': fault.length }).write(image, () => response.destroy());
      return true;
    case 'page':
      response.writeHead(200, { 'content-type': 'text/html' }).end('<html>try again later</html>');
      return true;
    case 'flood': {
      response.writeHead(200, { 'content-type': 'application/octet-stream' });
      const more = (): void => {
        while (!response.destroyed && response.write(image));
      };
      response.on('drain', more);
      more();
      return true;
    }
    case 'cut':
    case 'stall':
      return false;
  }
}

function serve(
  image: Buffer,
  { method, range, ifRange, ifNoneMatch }: IsoRequest,
  validator: IsoServerOptions['validator'],
  response: ServerResponse,
  fault: IsoFault | undefined,
): void {
  const etag = validator === 'etag' ? etagOf(image) : validator === 'weak' ? `W/${etagOf(image)}` : null;
  const headers = {
    'content-type': 'application/octet-stream',
    'accept-ranges': 'bytes',
    ...(etag !== null && { etag }),
    ...(validator === 'lastModified' && { 'last-modified': lastModified }),
  };
  if (etag !== null && ifNoneMatch === etag) return void response.writeHead(304, headers).end();
  const isSame = ifRange === null || ifRange === (validator === 'lastModified' ? lastModified : etag);
  const [, from] = /^bytes=(\d+)-$/u.exec(range ?? '') ?? [];
  const start = from === undefined || !isSame ? 0 : Number(from);
  const isPart = from !== undefined && isSame;
  if (isPart && start >= image.length)
    return void response.writeHead(416, { ...headers, 'content-range': `bytes */${image.length}` }).end();
  response.writeHead(isPart ? 206 : 200, {
    ...headers,
    'content-length': image.length - start,
    ...(isPart && { 'content-range': `bytes ${start}-${image.length - 1}/${image.length}` }),
  });
  if (method === 'HEAD') return void response.end();
  if (fault?.does === 'cut')
    return void response.write(image.subarray(start, start + fault.afterBytes), () => response.destroy());
  if (fault?.does === 'stall') return void response.write(image.subarray(start, start + fault.afterBytes));
  response.end(image.subarray(start));
}
