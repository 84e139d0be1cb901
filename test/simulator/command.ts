import type { CommandEnd } from '../../lab/kubectl.ts';
import type { CommandContext } from '../../starters/command/context.ts';
import { exitCodes } from '../../starters/command/exit-codes.ts';
import { main } from '../../starters/main.ts';
import { paper } from '../fixtures/starters/context.ts';
import type { Deployment } from './deployment.ts';
import { namespace } from './temporal/sdk.ts';

/** The real `drover` with these arguments, over the Temporal, the kube-apiserver and the clock of the simulation. */
export async function simulatedCommand(
  { simulation, kubernetes, config }: Pick<Deployment, 'simulation' | 'kubernetes' | 'config'>,
  args: readonly string[],
  env: Readonly<Record<string, string>> = { DROVER_USER: 'flow-test' },
): Promise<CommandEnd> {
  const { clock, client } = simulation;
  const terminal = paper();
  const context: CommandContext = {
    env,
    clock,
    terminal,
    exitCode: exitCodes.ok,
    loadConfig: async () => ({ config, file: 'drover.yaml' }),
    openTemporal: async () => ({ client, address: 'temporal.simulated:7233', namespace }),
    openKubernetes: async () => kubernetes.client,
    onInterrupt: () => () => undefined,
  };
  const code = await main(args, context);
  return { code, stdout: terminal.stdout, stderr: terminal.stderr };
}
