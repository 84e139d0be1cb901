import type { Obstacle } from '../../contracts/eviction/eviction.ts';
import type { ComputeService } from '../../contracts/eviction/instance.ts';
import type { HypervisorFacts } from './facts.ts';
import { hostObstacle } from './obstacle.ts';

/** What is wrong with the host that shall be emptied. Source: seed 001 "OS validation"; design section 5, step 1. */
export function judgeSource(host: string, service: ComputeService, facts: HypervisorFacts | null): Obstacle[] {
  const obstacles: Obstacle[] = [];
  if (service.state === 'down' || service.forcedDown) {
    obstacles.push(
      hostObstacle(
        'HostDown',
        `nova-compute on ${host} is ${service.forcedDown ? 'forced down' : 'down'}, so nothing can be moved live off it`,
      ),
    );
  }
  if (facts === null)
    obstacles.push(
      hostObstacle(
        'AgentFactsMissing',
        `No node agent reports on ${host}: it has no Hypervisor, so its versions and updates are unknown`,
      ),
    );
  else if (facts.libVirtVersion === null || facts.hypervisorVersion === null) {
    obstacles.push(
      hostObstacle(
        'AgentFactsMissing',
        `The node agent of ${host} has not reported the versions of libvirt and the hypervisor`,
      ),
    );
  }
  if (facts?.osUpdateInProgress === true)
    obstacles.push(hostObstacle('OsUpdateInProgress', `The operating system of ${host} is being updated`));
  return obstacles;
}
