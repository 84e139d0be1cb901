import { readFileSync } from 'node:fs';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { writePrivateFile } from './private-files.ts';

/** The way to the cluster of the Nodes: a TCP relay that can be cut. */
export interface TargetCluster {
  /** For drover's settings, mode 0600. */
  readonly kubeconfig: string;
  cut: () => void;
  mend: () => void;
  close: () => Promise<void>;
}

/** @param of the kubeconfig of an API server on loopback, whose certificate names the address and not the port */
export async function openTargetCluster(
  of: { kubeconfig: string; server: string },
  path: string,
): Promise<TargetCluster> {
  const { hostname, port } = new URL(of.server);
  const sockets = new Set<Socket>();
  let isCut = false;
  const keep = (socket: Socket): void => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
    // The other end of it is destroyed, too.
    socket.on('error', () => undefined);
  };
  const server = createServer((from) => {
    keep(from);
    if (isCut) return void from.destroy();
    const to = connect(Number(port), hostname);
    keep(to);
    from.pipe(to).pipe(from);
    from.on('close', () => to.destroy());
    to.on('close', () => from.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const relay = `https://127.0.0.1:${(server.address() as AddressInfo).port}`;
  writePrivateFile(path, readFileSync(of.kubeconfig, 'utf8').replaceAll(of.server, relay));
  return {
    kubeconfig: path,
    cut() {
      isCut = true;
      for (const socket of sockets) socket.destroy();
    },
    mend: () => void (isCut = false),
    async close() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
