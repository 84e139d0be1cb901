import type { Client } from '@temporalio/client';
import type { Clock } from '../../runtime/clock.ts';
import type { Config } from '../../runtime/config/config-schema.ts';
import type { LoadedConfig } from '../../runtime/config/config.ts';
import type { Kubernetes } from '../../runtime/kubernetes/kubernetes.ts';
import type { ExitCode } from './exit-codes.ts';
import type { Terminal } from './terminal.ts';

/**
 * What a command needs of the outside, for one run of it. `process-context.ts` makes it of this process; a simulation
 * has its own parts, so that `drover` runs there as it is.
 */
export interface CommandContext {
  env: NodeJS.ProcessEnv;
  clock: Clock;
  terminal: Terminal;
  /** How the command ends: it is set where that is otherwise than well. */
  exitCode: ExitCode;
  /** @throws InvalidConfiguration */
  loadConfig(): Promise<LoadedConfig>;
  /** Temporal, not asked yet. @throws InvalidConfiguration */
  openTemporal(config: Config): Promise<OpenedTemporal>;
  /** kube-apiserver, not asked yet; the caller closes it. @throws InvalidConfiguration */
  openKubernetes(config: Config): Promise<Kubernetes>;
  /** Has `interrupt` called when the person wants to leave. Returns what takes that back. */
  onInterrupt(interrupt: () => void): () => void;
}

/** The caller closes `client.connection`. */
export interface OpenedTemporal {
  client: Client;
  /** host:port */
  address: string;
  namespace: string;
}
