import type { NewHypervisor } from '../../../contracts/hypervisor/hypervisor.ts';
import { resources } from '../../../runtime/kubernetes/resources.ts';
import { mutate } from '../../lib/mutate.ts';
import type { HypervisorTools } from './dependencies.ts';

/** Makes the Hypervisor of a Node. One of that name is left as it is. */
export async function createHypervisor(tools: HypervisorTools, hypervisor: NewHypervisor): Promise<void> {
  const { name, ...after } = hypervisor;
  const entry = {
    action: 'createHypervisor',
    cause: `Node ${name}`,
    object: `hypervisor/${name}`,
    before: null,
    after,
  };
  const { spec, ...metadata } = hypervisor;
  await mutate(tools, entry, () => tools.client.create(resources.Hypervisor, { metadata, spec }, tools.scope.signal));
}
