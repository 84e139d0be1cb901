import { proxyActivities } from '@temporalio/workflow';

import { machinesQueue } from '../../contracts/ids.ts';
import type { SweepActivities } from '../../contracts/machine-safety/sweep.ts';
import type { MachineNodeActivities } from '../../contracts/machine-safety/unmanaged-nodes.ts';
import { sweepCall } from '../../contracts/policies.ts';
import { ownCluster } from './own-cluster.ts';

/** The activities of sweeps, bound to queue and policy. Each call takes the sentence that a person reads beside it. */
export const sweepActivities = (summary: string) =>
  proxyActivities<SweepActivities & MachineNodeActivities>({
    ...sweepCall,
    taskQueue: machinesQueue(ownCluster()),
    summary,
  });
