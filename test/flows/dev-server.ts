import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { searchAttributes } from '../../contracts/search-attributes.ts';
import { openClient, readTemporalSettings } from '../../runtime/temporal/temporal.ts';
import { until } from './until.ts';

/** A dev server in memory with settings of its own, which the lab's has no use for. */
export async function openDevServer(
  program: string,
  settings: Record<string, number>,
): Promise<{ address: string; stop(): Promise<void> }> {
  const [port, http, metrics] = [await freePort(), await freePort(), await freePort()];
  const address = `127.0.0.1:${port}`;
  const child = spawn(
    program,
    [
      'server',
      'start-dev',
      '--headless',
      '--ip',
      '127.0.0.1',
      '--log-level',
      'error',
      '--port',
      String(port),
      '--http-port',
      String(http),
      '--metrics-port',
      String(metrics),
      ...Object.values(searchAttributes).flatMap((name) => ['--search-attribute', `${name}=Keyword`]),
      ...Object.entries(settings).flatMap(([key, value]) => ['--dynamic-config-value', `${key}=${value}`]),
    ],
    { stdio: 'ignore' },
  );
  const exited = once(child, 'exit');
  const stop = async (): Promise<void> => {
    child.kill('SIGTERM');
    await exited;
  };
  const client = openClient(readTemporalSettings({ TEMPORAL_ADDRESS: address, TEMPORAL_NAMESPACE: 'default' }));
  try {
    await until('the dev server to serve', 60_000, async () => {
      const { customAttributes } = await client.connection.operatorService.listSearchAttributes({
        namespace: 'default',
      });
      return (
        Object.values(searchAttributes).every((name) => name in customAttributes) || 'search attributes are missing'
      );
    });
  } catch (error) {
    await stop();
    throw error;
  } finally {
    await client.connection.close();
  }
  return { address, stop };
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}
