import type { PowerActivities } from '../../contracts/node-failure/power.ts';
import { currentScope } from '../lib/context.ts';
import { whileBeating } from '../lib/wait.ts';
import type { PowerDependencies, Tools } from './dependencies.ts';
import { ensurePoweredOff } from './ensure-powered-off.ts';
import type { RedfishClient } from './types.ts';

/** Activities on the power of hosts. A connection lives as long as one of them: BMCs have room for few, and forget them. */
export function createPowerActivities(deps: PowerDependencies): PowerActivities {
  const { clock, connect } = deps;

  const withBmc = async <Result>(
    host: string,
    work: (tools: Tools, client: RedfishClient) => Promise<Result>,
  ): Promise<Result> => {
    const scope = (deps.scope ?? currentScope)(clock);
    return whileBeating(
      { scope, clock },
      () => undefined,
      async () => {
        const client = connect(await deps.bmcOf(host, scope.signal));
        try {
          return await work({ stopGate: deps.stopGate, audit: deps.audit, scope, clock }, client);
        } finally {
          await client.close();
        }
      },
    );
  };

  return {
    observePower: ({ host }) =>
      withBmc(host, async ({ scope }, client) => {
        const { power } = await client.findSystem(scope.signal);
        return { host, power, atMs: clock.now() };
      }),
    ensurePoweredOff: (request) => withBmc(request.host, (tools, client) => ensurePoweredOff(tools, client, request)),
  };
}
