import { join } from 'node:path';
import { searchAttributes } from '../../contracts/search-attributes.ts';
import type { Part } from '../part.ts';
import { type FoundPrograms, findPrograms, type ProgramSet } from '../programs.ts';

const VERSION = '1.5.1';

const attributeNames = Object.values(searchAttributes);

const NAMESPACE = 'default';

export interface TemporalHandle {
  /** The part's directory. */
  readonly dir: string;
  /** host:port of the frontend (gRPC). */
  readonly address: string;
  readonly namespace: string;
  readonly uiUrl: string;
  /** The frontend's HTTP API, e.g. `<httpUrl>/api/v1/namespaces/default`. */
  readonly httpUrl: string;
  /** Prometheus text of the server. */
  readonly metricsUrl: string;
  /** Path of the `temporal` program. */
  readonly program: string;
}

const programs: ProgramSet<'temporal'> = {
  variable: 'DROVER_TEMPORAL',
  programs: { temporal: { args: ['--version'], pattern: /temporal version (\S+)/, minor: '1.5' } },
  build: {
    name: 'temporal',
    folder: 'temporal',
    package: 'github.com/temporalio/cli/cmd/temporal',
    ldflags: `-s -w -X github.com/temporalio/cli/temporalcli.Version=${VERSION}`,
    usually: '3 min on two idle cores',
  },
};

/**
 * The CLI's dev server with the Web UI on a SQLite file, so that it can be killed and started again on the same state.
 * The write-ahead log more than doubles its throughput; `synchronous=NORMAL` loses nothing when only the process dies.
 */
export const temporal: Part<TemporalHandle, FoundPrograms<'temporal'>> = {
  name: 'temporal',
  title: 'Temporal dev server with Web UI',
  usually: { cold: '3 min', warm: '1 s' },
  build: (context) => findPrograms(context, programs),

  async start(context, { paths }) {
    const port = await context.ports('grpc', 'http', 'ui', 'metrics');
    const handle: TemporalHandle = {
      dir: context.dir,
      address: `127.0.0.1:${port.grpc}`,
      namespace: NAMESPACE,
      uiUrl: `http://127.0.0.1:${port.ui}`,
      httpUrl: `http://127.0.0.1:${port.http}`,
      metricsUrl: `http://127.0.0.1:${port.metrics}/metrics`,
      program: paths.temporal,
    };
    await context.publish('temporal', { target: paths.temporal });
    await context.spawn({
      name: 'temporal',
      command: paths.temporal,
      args: [
        'server',
        'start-dev',
        '--ip',
        '127.0.0.1',
        '--log-level',
        'error',
        '--port',
        String(port.grpc),
        '--http-port',
        String(port.http),
        '--ui-port',
        String(port.ui),
        '--metrics-port',
        String(port.metrics),
        '--db-filename',
        join(context.dir, 'temporal.sqlite'),
        '--sqlite-pragma',
        'journal_mode=WAL',
        '--sqlite-pragma',
        'synchronous=NORMAL',
        ...attributeNames.flatMap((name) => ['--search-attribute', `${name}=Keyword`]),
      ],
      ready: (signal) => temporalServes(handle, signal),
    });
    return handle;
  },

  describe: (handle) => ({
    urls: { 'Temporal Web UI': handle.uiUrl },
    exports: {
      TEMPORAL_ADDRESS: handle.address,
      TEMPORAL_NAMESPACE: handle.namespace,
      TEMPORAL_CLI_ADDRESS: handle.address,
      TEMPORAL_CLI_NAMESPACE: handle.namespace,
      DROVER_WEB_UI: handle.uiUrl,
    },
  }),
};

/** Whether the frontend answers, knows its namespace and has drover's search attributes, and the Web UI serves. */
export async function temporalServes(handle: TemporalHandle, signal: AbortSignal): Promise<boolean> {
  const attributes = await fetch(`${handle.httpUrl}/api/v1/namespaces/${handle.namespace}/search-attributes`, {
    signal,
  });
  if (!attributes.ok) return false;
  const known = Object.keys(((await attributes.json()) as { customAttributes?: object }).customAttributes ?? {});
  if (!attributeNames.every((name) => known.includes(name))) return false;
  const page = await fetch(handle.uiUrl, { signal });
  await page.body?.cancel();
  return page.ok;
}
