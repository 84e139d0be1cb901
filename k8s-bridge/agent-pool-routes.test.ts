import { watchEverything } from '../contracts/kinds/kind.ts';
import type { KubeObject } from './kube-object.ts';
import { isMapped, keyOf, routesFor } from './routes.ts';

const routes = routesFor(watchEverything('drover-system')).filter(({ row }) => row.kind === 'VsphereAgentPool');
const object = (namespace: string, spec: object, annotations: Record<string, string> = {}): KubeObject => ({
  apiVersion: 'v1',
  kind: 'Any',
  metadata: {
    namespace,
    name: 'one',
    uid: 'u1',
    resourceVersion: '5',
    generation: 1,
    creationTimestamp: '2026-01-01T00:00:00Z',
    annotations,
  },
  spec,
});
const pool = object('agents', { nodePoolRef: { name: 'nodes' }, infraEnvRef: { name: 'one' } });
const nodePool = { 'hypershift.openshift.io/nodePool': 'agents/nodes' };

test('what a hundred objects have to say to a pool is one signal, as it is for the pool and not for them', () => {
  expect(routes.filter(isMapped)).toEqual([]);
});

test.each<[kind: string, object: KubeObject, key: string | null]>([
  ['AgentMachine', object('hosted', {}, nodePool), 'agents/nodes'],
  ['AgentMachine', object('hosted', {}), null],
  ['Machine', object('hosted', {}, nodePool), 'agents/nodes'],
  ['Agent', object('agents', {}), 'agents'],
  ['InfraEnv', object('agents', {}), 'agents/one'],
  ['VsphereAgent', object('agents', { poolRef: { name: 'one' } }), 'agents/one'],
  ['VsphereAgent', object('agents', {}), null],
])('%s: whom it concerns', (kind, given, key) => {
  const route = routes.find(({ watch, resource }) => watch !== null && resource.kind === kind);
  expect(route && keyOf(route, given)).toBe(key);
  const [indexed] = (routes[0]?.indexes ?? []).filter(({ resource }) => resource.kind === kind);
  const names = indexed?.index(pool) ?? [];
  expect(key === null || names.includes(key)).toBe(true);
});
