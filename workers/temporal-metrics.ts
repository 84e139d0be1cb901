import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import type { TelemetryOptions } from '@temporalio/worker';
import { request } from 'undici';
import { metrics } from '../contracts/metrics.ts';

/** How Temporal's SDK shows its metrics. */
export interface TemporalMetrics {
  options: NonNullable<TelemetryOptions['metrics']>;
  /** Its page: its own metrics and what workflow code counted. */
  page(): Promise<string>;
}

const pageTimeoutMs = 5_000;

/** The buckets of what workflow code measures. */
const bucketsOfRuns = Object.fromEntries(
  Object.values(metrics).flatMap((row) =>
    row.kind === 'histogram' && row.from.some((from) => from === 'runs') ? [[row.name, [...row.buckets]]] : [],
  ),
);

/**
 * The SDK can only show its metrics at an address of its own, so it gets a private one on loopback: a scrape of the
 * worker returns both pages as one.
 */
export async function openTemporalMetrics(): Promise<TemporalMetrics> {
  const bindAddress = `127.0.0.1:${await freePort()}`;
  return {
    options: {
      attachServiceName: false,
      prometheus: {
        bindAddress,
        countersTotalSuffix: true,
        unitSuffix: true,
        useSecondsForDurations: true,
        histogramBucketOverrides: bucketsOfRuns,
      },
    },
    async page() {
      const { body } = await request(`http://${bindAddress}/metrics`, { signal: AbortSignal.timeout(pageTimeoutMs) });
      return inSnakeCase(await body.text());
    },
  };
}

/**
 * The SDK names the labels that it adds to what workflow code counts otherwise than those of its own metrics;
 * Prometheus' way is the latter. In a label's value, a quote is never bare. Pure.
 */
export const inSnakeCase = (page: string): string =>
  page.replaceAll(/(?<=[{,])taskQueue="/gu, 'task_queue="').replaceAll(/(?<=[{,])workflowType="/gu, 'workflow_type="');

/** Free a moment ago; the SDK takes no port 0, as it does not report the one it got. */
async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve, reject) => server.once('error', reject).listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}
