import { timingSafeEqual } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { json } from 'node:stream/consumers';
import type { IsoContent } from './control.ts';
import { type IsoFault, startIsoServer } from './server.ts';
import { makeSmallIso } from './small-iso.ts';

/** `node lab/iso/main.ts SETTINGS` serves a disc image until it is stopped. The control port listens last. */

/** Read from a file: arguments can be read by every user of the machine. */
export interface IsoServerSettings {
  port: number;
  controlPort: number;
  controlToken: string;
  certificateFile: string;
  keyFile: string;
  content: IsoContent;
}

const settings = JSON.parse(readFileSync(process.argv[2] ?? '', 'utf8')) as IsoServerSettings;
const imageOf = ({ text, sizeBytes }: IsoContent): Buffer => makeSmallIso(text, sizeBytes);
const server = await startIsoServer({
  image: imageOf(settings.content),
  port: settings.port,
  tls: { cert: readFileSync(settings.certificateFile), key: readFileSync(settings.keyFile) },
});

const token = Buffer.from(settings.controlToken);
const isAllowed = (given: unknown): boolean => {
  const bytes = Buffer.from(typeof given === 'string' ? given : '');
  return bytes.length === token.length && timingSafeEqual(bytes, token);
};
const routes: Record<string, (body: unknown) => unknown> = {
  'PUT /content': (body) => server.setImage(imageOf(body as IsoContent)),
  'POST /faults': (body) => server.inject(...(body as IsoFault[])),
  'GET /requests': () => server.requests,
};
createServer((request, response) => void answer(request, response)).listen(settings.controlPort, '127.0.0.1');

async function answer(request: IncomingMessage, response: ServerResponse): Promise<unknown> {
  const route = routes[`${request.method ?? ''} ${request.url ?? ''}`];
  if (!isAllowed(request.headers['x-lab-token'])) return response.writeHead(401).end();
  if (route === undefined) return response.writeHead(404).end();
  const said = route(request.method === 'GET' ? null : await json(request)) ?? null;
  return response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(said));
}
