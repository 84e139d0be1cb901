import type { NodeSign } from '../../../contracts/node-failure/node-failure.ts';
import type { Node } from '../hypervisor/node-schema.ts';

const pressures = ['DiskPressure', 'MemoryPressure'] as const;

/**
 * What a Node says of itself, or what is said of it: where it is not said whether it is Ready, that is unknown. Pure.
 *
 * @param node null: there is none
 */
export function toNodeSign(node: Node | null): Omit<NodeSign, 'sinceMs'> {
  if (node === null) return { ready: 'Gone', bootId: null, pressures: [] };
  const { status } = node;
  const statusOf = (type: string): string | undefined =>
    status?.conditions?.find((condition) => condition.type === type)?.status;
  const ready = statusOf('Ready');
  return {
    ready: ready === 'True' || ready === 'False' ? ready : 'Unknown',
    bootId: status?.nodeInfo?.bootID || null,
    pressures: pressures.filter((type) => statusOf(type) === 'True'),
  };
}
