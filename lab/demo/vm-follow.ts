import { setTimeout as delay } from 'node:timers/promises';
import { findCondition } from '../../contracts/conditions.ts';
import type { VirtualMachine } from '../../contracts/crds/virtual-machine.ts';
import { virtualMachineSchema } from '../../contracts/crds/virtual-machine.ts';
import { virtualMachineConditions } from '../../contracts/virtual-machine/conditions.ts';
import { isFailure } from '../../runtime/kubernetes/kubernetes-faults.ts';
import type { Kubernetes } from '../../runtime/kubernetes/kubernetes.ts';
import { resourcePath } from '../../runtime/kubernetes/resource-path.ts';
import { vm } from './vm-fixture.ts';

const pollMs = 100;

/** Null: it is gone. */
export async function readVm(api: Kubernetes, signal: AbortSignal): Promise<VirtualMachine | null> {
  try {
    return virtualMachineSchema.parse(
      await api.request(
        { method: 'GET', path: resourcePath('vmoperator.vmware.com/v1alpha6', 'virtualmachines', vm) },
        signal,
      ),
    );
  } catch (error) {
    if (isFailure(error, 'ObjectNotFound')) return null;
    throw error;
  }
}

/**
 * Follows the object until it is reconciled with its present spec, or gone; reports each reason and message once.
 * @returns false: not in time
 */
export async function followVm(
  api: Kubernetes,
  {
    patienceMs,
    signal,
    report,
  }: { patienceMs: number; signal: AbortSignal; report: (state: string, message: string) => void },
): Promise<boolean> {
  const endMs = performance.now() + patienceMs;
  let reported = '';
  while (performance.now() < endMs) {
    const object = await readVm(api, signal);
    if (object === null) return true;
    const lifecycle = findCondition(object.status?.conditions, virtualMachineConditions.lifecycle);
    const isCurrent = lifecycle?.observedGeneration === object.metadata.generation;
    const isDeleted = object.metadata.deletionTimestamp !== undefined;
    if (lifecycle !== undefined && isCurrent && !(isDeleted && lifecycle.status === 'True')) {
      const line = `${lifecycle.reason} ${lifecycle.message}`;
      if (line !== reported) report(lifecycle.reason, lifecycle.message);
      reported = line;
      if (lifecycle.status === 'True' && !isDeleted) return true;
    }
    await delay(pollMs, undefined, { signal });
  }
  return false;
}

/** A short description of the object: where it is, and each condition that is not True. */
export function describeVm({ status }: VirtualMachine): string[] {
  const conditions = status?.conditions ?? [];
  const others = conditions.filter(({ status: is }) => is !== 'True');
  const where = [
    status?.powerState,
    status?.nodeName === undefined ? undefined : `on ${status.nodeName}`,
    status?.zone === undefined ? undefined : `in ${status.zone}`,
  ].filter((part) => part !== undefined);
  return [
    `${where.join(' ')}; ${conditions.length - others.length} of ${conditions.length} conditions are True`,
    ...others.map(({ type, status: is, reason, message }) => `${type} ${is}, ${reason}: ${message}`),
  ];
}
