import { createServer, connect, type Server, type Socket } from 'node:net';
import type { AddressInfo } from 'node:net';

/** A TCP proxy on loopback that can go wrong. */
export interface Proxy {
  port: number;
  /** Breaks every connection and refuses new ones, until `restore`. */
  cut(): void;
  /**
   * Holds everything back on the connections there are, without breaking them; new ones work. As a firewall that lost
   * its state.
   */
  freezeOpen(): void;
  restore(): void;
  close(): Promise<void>;
}

/** Forwards to 127.0.0.1:`targetPort`. */
export async function openProxy(targetPort: number): Promise<Proxy> {
  const pairs = new Set<{ sockets: [Socket, Socket]; frozen: boolean }>();
  let isCut = false;

  const accept = (client: Socket): void => {
    if (isCut) return void client.destroy();
    const server = connect({ host: '127.0.0.1', port: targetPort });
    const pair = { sockets: [client, server] as [Socket, Socket], frozen: false };
    pairs.add(pair);
    const forward = (from: Socket, to: Socket): void => {
      from.on('data', (chunk) => (pair.frozen ? undefined : to.write(chunk)));
      from.on('error', () => undefined);
      from.on('close', () => {
        pairs.delete(pair);
        if (!pair.frozen) to.destroy();
      });
    };
    forward(client, server);
    forward(server, client);
  };

  const server: Server = createServer(accept);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    port: (server.address() as AddressInfo).port,
    cut() {
      isCut = true;
      for (const { sockets } of pairs) for (const socket of sockets) socket.destroy();
    },
    freezeOpen() {
      for (const pair of pairs) pair.frozen = true;
    },
    restore() {
      isCut = false;
      for (const { sockets, frozen } of pairs) if (frozen) for (const socket of sockets) socket.destroy();
    },
    close: () =>
      new Promise((resolve) => {
        for (const { sockets } of pairs) for (const socket of sockets) socket.destroy();
        server.close(() => resolve());
      }),
  };
}
