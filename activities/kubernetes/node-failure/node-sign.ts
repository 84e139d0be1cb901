import type { NodeSign } from '../../../contracts/node-failure/node-failure.ts';
import type { Node } from '../hypervisor/node-schema.ts';

/**
 * What a Node says of itself, or what is said of it: where it is not said whether it is Ready, that is unknown. Pure.
 *
 * @param node null: there is none
 */
export function toNodeSign(node: Node | null): Omit<NodeSign, 'sinceMs'> {
  if (node === null) return { ready: 'Gone', bootId: null };
  const { status } = node;
  const ready = status?.conditions?.find(({ type }) => type === 'Ready')?.status;
  return {
    ready: ready === 'True' || ready === 'False' ? ready : 'Unknown',
    bootId: status?.nodeInfo?.bootID || null,
  };
}
