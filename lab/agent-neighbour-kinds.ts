import { toCustomResourceDefinition } from '../contracts/crds/custom-resource-definition.ts';
import { neighbourDefinitions } from '../contracts/crds/definitions.ts';
import { kubectl } from './kubectl.ts';
import type { KubernetesHandle } from './parts/kubernetes-handle.ts';

/**
 * The kinds of the neighbours of agent pools, which others define in a real cluster, as far as drover reads them. May
 * be asked for again.
 */
export async function installNeighbourKinds(kubernetes: KubernetesHandle): Promise<void> {
  const items = neighbourDefinitions.map(toCustomResourceDefinition);
  const list = JSON.stringify({ apiVersion: 'v1', kind: 'List', items });
  await kubectl(kubernetes, ['apply', '--server-side', '--force-conflicts', '-f', '-'], list);
  await kubectl(kubernetes, ['wait', '--for=condition=Established', '--timeout=30s', 'crd', '--all']);
}
