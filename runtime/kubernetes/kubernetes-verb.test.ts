import { kubernetesVerb } from './kubernetes-verb.ts';
import type { KubernetesRequest } from './kubernetes.ts';
import { resourcePath } from './resource-path.ts';

const evictions = (of: { name?: string; subresource?: string } = {}): string =>
  resourcePath('kvm.cloud.sap/v1', 'evictions', of);

type Row = [verb: string, request: KubernetesRequest];
const rows: Row[] = [
  ['list evictions', { method: 'GET', path: evictions(), query: { limit: 500 } }],
  ['watch evictions', { method: 'GET', path: evictions(), query: { watch: true } }],
  ['get evictions', { method: 'GET', path: evictions({ name: 'node-1' }) }],
  ['patch evictions/status', { method: 'PATCH', path: evictions({ name: 'node-1', subresource: 'status' }) }],
  ['create events', { method: 'POST', path: resourcePath('events.k8s.io/v1', 'events', { namespace: 'default' }) }],
  [
    'update leases',
    {
      method: 'PUT',
      path: resourcePath('coordination.k8s.io/v1', 'leases', { namespace: 'drover-system', name: 'drover-bridge' }),
    },
  ],
  [
    'get configmaps',
    { method: 'GET', path: resourcePath('v1', 'configmaps', { namespace: 'drover-system', name: 'drover-stop' }) },
  ],
  ['list nodes', { method: 'GET', path: resourcePath('v1', 'nodes') }],
  ['get namespaces', { method: 'GET', path: resourcePath('v1', 'namespaces', { name: 'monsoon3' }) }],
  [
    'delete migrations',
    {
      method: 'DELETE',
      path: resourcePath('kvm.cloud.sap/v1alpha1', 'migrations', { namespace: 'monsoon3', name: 'x' }),
    },
  ],
  ['get /version', { method: 'GET', path: '/version' }],
];

test.each(rows)('%s', (verb, request) => {
  expect(kubernetesVerb(request)).toBe(verb);
});
