import * as fc from 'fast-check';
import {
  agentsQueue,
  clusterOfQueue,
  evictionId,
  hostChecksQueue,
  hostsQueue,
  kubernetesQueue,
  machinesQueue,
  novaQueue,
  virtualMachinesQueue,
  volumesQueue,
  vsphereQueue,
  workflowQueue,
} from './ids.ts';

const queuesOf = (cluster: string): string[] => [
  workflowQueue(cluster),
  kubernetesQueue(cluster),
  hostsQueue(cluster),
  hostChecksQueue(cluster),
  virtualMachinesQueue(cluster),
  machinesQueue(cluster),
  agentsQueue(cluster),
  volumesQueue(cluster),
  novaQueue('RegionOne', cluster),
  vsphereQueue('prod', cluster),
];

/** As the settings allow it; none, too. */
const clusterName = fc.oneof(fc.constant(''), fc.stringMatching(/^[a-z0-9]([a-z0-9-]{0,20}[a-z0-9])?$/u));

test('without a name of the cluster, ids and queues are what people type', () => {
  expect(evictionId('node-1')).toBe('eviction/node-1');
  expect(queuesOf('')).toEqual([
    'drover',
    'kubernetes',
    'hosts',
    'host-checks',
    'virtual-machines',
    'machines',
    'agents',
    'volumes',
    'nova:RegionOne',
    'vsphere:prod',
  ]);
});

test('a run finds its cluster in the queue that its workflow tasks come from', () => {
  fc.assert(fc.property(clusterName, (cluster) => expect(clusterOfQueue(workflowQueue(cluster))).toBe(cluster)));
});

test('two clusters share no queue', () => {
  fc.assert(
    fc.property(clusterName, clusterName, (one, other) => {
      fc.pre(one !== other);
      expect(queuesOf(one).filter((queue) => queuesOf(other).includes(queue))).toEqual([]);
    }),
  );
});
