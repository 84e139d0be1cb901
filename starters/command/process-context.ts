import { systemClock } from '../../runtime/clock.ts';
import type { CommandContext } from './context.ts';
import { exitCodes } from './exit-codes.ts';
import { systemTerminal } from './terminal.ts';

/** A user may have to log in with a browser. */
const loginTimeoutMs = 120_000;

/**
 * The context of a command that a person has typed: this process, its terminal, its variables, and the systems that its
 * settings name. What opens them takes half a second to load: only where it is needed.
 */
export const processContext = (env: NodeJS.ProcessEnv = process.env): CommandContext => ({
  env,
  clock: systemClock,
  terminal: systemTerminal(env),
  exitCode: exitCodes.ok,
  loadConfig: async () => (await import('../../runtime/config/config.ts')).loadConfig(env),
  async openTemporal(config) {
    const { openClient, readTemporalSettings } = await import('../../runtime/temporal/temporal.ts');
    const settings = readTemporalSettings(env, config.temporal.payloadKeys);
    return { client: openClient(settings), address: settings.address, namespace: settings.namespace };
  },
  async openKubernetes({ kubernetes: { kubeconfig, context } }) {
    const { connectKubernetes } = await import('../../runtime/kubernetes/kubernetes.ts');
    return connectKubernetes({ kubeconfig, context, loginTimeoutMs });
  },
  // Once: a second Ctrl-C ends the process at once.
  onInterrupt(interrupt) {
    process.once('SIGINT', interrupt);
    process.once('SIGTERM', interrupt);
    return () => {
      process.off('SIGINT', interrupt);
      process.off('SIGTERM', interrupt);
    };
  },
});
