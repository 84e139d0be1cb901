import { createServer, type ServerHttp2Session, type ServerHttp2Stream } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { gunzipSync } from 'node:zlib';

/** A message, as it is encoded; a gRPC status other than OK; or no answer, for as long as the caller waits. */
export type TemporalReply = Uint8Array | { status: number; message: string } | 'silent';

export interface ScriptedTemporal {
  /** host:port */
  address: string;
  close(): Promise<void>;
}

/** A message without fields. */
export const emptyMessage = new Uint8Array();

/**
 * Temporal's frontend on loopback with scripted answers: only for what a real one cannot be brought to do on demand.
 *
 * @param script of a call's name, such as `DescribeNamespace`, and its message
 */
export async function startScriptedTemporal(
  script: (call: string, request: Buffer) => TemporalReply | Promise<TemporalReply>,
): Promise<ScriptedTemporal> {
  const sessions = new Set<ServerHttp2Session>();
  const server = createServer();
  server.on('session', (session) => {
    sessions.add(session);
    session.on('close', () => sessions.delete(session));
  });
  server.on('stream', (stream, { ':path': path = '' }) => {
    stream.on('error', () => undefined);
    void answer(stream, path);
  });
  async function answer(stream: ServerHttp2Stream, path: string): Promise<void> {
    const received = await buffer(stream).catch(() => null);
    // The caller has gone, as below.
    if (received === null) return;
    const message = received.subarray(prefixBytes);
    const reply = await script(
      path.slice(path.lastIndexOf('/') + 1),
      received[0] === 1 ? gunzipSync(message) : message,
    );
    if (reply === 'silent' || stream.destroyed) return;
    const head = { ':status': 200, 'content-type': 'application/grpc+proto' };
    if ('status' in reply) {
      stream.respond({ ...head, 'grpc-status': reply.status, 'grpc-message': reply.message }, { endStream: true });
      return;
    }
    stream.respond(head, { waitForTrailers: true });
    stream.on('wantTrailers', () => stream.sendTrailers({ 'grpc-status': '0' }));
    const prefix = Buffer.alloc(prefixBytes);
    prefix.writeUInt32BE(reply.length, 1);
    stream.end(Buffer.concat([prefix, reply]));
  }
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    address: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: async () => {
      for (const session of sessions) session.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** Of each message: whether it is compressed, and its length. */
const prefixBytes = 5;
