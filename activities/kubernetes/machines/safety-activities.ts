import type { ApiServerSafetyActivities } from '../../../contracts/machine-safety/watch-api-servers.ts';
import { droverFailure } from '../../../runtime/failure.ts';
import { contextOf } from '../../lib/context.ts';
import { probeApiServers } from './probe-api-servers.ts';
import { resetUnknownMachines } from './reset-unknown-machines.ts';
import type { SafetyDependencies } from './tools.ts';

/**
 * The activities of API-server safety, on queue `machines`. Runs are started by hand, too: their input may be anything.
 */
export const createSafetyActivities = (dependencies: SafetyDependencies): ApiServerSafetyActivities => ({
  probeApiServers: async (request) => probeApiServers(contextOf(dependencies), named(request)),
  resetUnknownMachines: async (request) => resetUnknownMachines(contextOf(dependencies), named(request)),
});

/** @throws InvalidInput */
export function named<Request extends { namespace: string }>(request: Request): Request {
  const { namespace } = Object(request) as { namespace?: unknown };
  if (typeof namespace === 'string' && namespace !== '') return request;
  throw droverFailure(
    'InvalidInput',
    'The input must name the namespace of the Machines: {"namespace": "my-namespace"}',
  );
}
