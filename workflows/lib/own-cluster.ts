import { workflowInfo } from '@temporalio/workflow';
import { clusterOfQueue } from '../../contracts/ids.ts';

/**
 * The cluster of this run, by its task queue: the activities of a run are asked of its own cluster's workers, whichever
 * client started it, and with whatever input.
 */
export const ownCluster = (): string => clusterOfQueue(workflowInfo().taskQueue);
