import { once } from 'node:events';
import { createServer, type AddressInfo, type Socket } from 'node:net';
import { createServer as createTlsServer, type TlsOptions } from 'node:tls';

/** A message as it arrived: a request, or the answer to one of the script's own. */
export interface ArrivedMessage {
  method?: string;
  params?: unknown;
  id: unknown;
  result?: unknown;
  error?: unknown;
}

/** What is sent back: an answer with the request's id, bytes as they are, or one of the ways in which none arrives. */
export type OvsdbReply =
  | { result: unknown }
  | { error: unknown }
  | { raw: string }
  /** The connection is closed. */
  | 'cut'
  /** The connection is closed in the middle of the answer. */
  | 'truncated';

export interface ScriptedOvsdb {
  port: number;
  received: ArrivedMessage[];
  close(): Promise<void>;
}

/** An OVSDB server on loopback with scripted answers: only for answers that the real one cannot be brought to give. */
export async function startScriptedOvsdb(
  script: (arrived: ArrivedMessage) => OvsdbReply,
  tls?: TlsOptions,
): Promise<ScriptedOvsdb> {
  const received: ArrivedMessage[] = [];
  const sockets = new Set<Socket>();
  const serve = (socket: Socket): void => {
    sockets.add(socket);
    let text = '';
    socket.on('error', () => undefined);
    socket.on('data', (bytes: Buffer) => {
      text += bytes.toString();
      const arrived = parsed(text);
      if (arrived === null) return;
      text = '';
      received.push(arrived);
      give(script(arrived), arrived, socket);
    });
  };
  const server = tls === undefined ? createServer(serve) : createTlsServer(tls, serve);
  server.on('tlsClientError', () => undefined);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    received,
    close: async () => {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}

/** drover sends one message at a time; null: not all of it has come. */
function parsed(text: string): ArrivedMessage | null {
  try {
    return JSON.parse(text) as ArrivedMessage;
  } catch {
    return null;
  }
}

function give(reply: OvsdbReply, { id }: ArrivedMessage, socket: Socket): void {
  if (reply === 'cut') return void socket.destroy();
  if (reply === 'truncated') return void socket.end(`{"id":${JSON.stringify(id)},"result":["Open_v`);
  if ('raw' in reply) return void socket.write(reply.raw);
  // The real one leaves out the result where it refuses.
  socket.write(
    JSON.stringify('error' in reply ? { id, error: reply.error } : { id, result: reply.result, error: null }),
  );
}
