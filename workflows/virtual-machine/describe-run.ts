import type { VirtualMachineStatusPatch } from '../../contracts/virtual-machine/plan.ts';
import type { VirtualMachineProgress } from '../../contracts/virtual-machine/progress.ts';
import { conditionsTable } from '../lib/conditions-table.ts';
import type { VirtualMachineRun } from './run.ts';

const timeOf = (ms: number): string => new Date(ms).toISOString();

/** The answer to the query `progress`. Pure. */
export function describeProgress({
  namespace,
  name,
  phase,
  message,
  waiting,
  facts: { vm },
  state,
}: VirtualMachineRun): VirtualMachineProgress {
  return {
    virtualMachine: `${namespace}/${name}`,
    state: phase,
    message,
    waitingFor: waiting?.for ?? null,
    nextWakeUp: waiting === null ? null : timeOf(waiting.untilMs),
    vmId: vm?.moId ?? null,
    powerState: vm?.powerState ?? null,
    host: vm?.hostName ?? null,
    failures: state.memory.failures.map(({ phase: of, message: words, attempts, requeue, retryAtMs }) => ({
      phase: of,
      message: words,
      attempts,
      retryAt: requeue ? timeOf(retryAtMs) : null,
    })),
  };
}

/** The run as the Web UI shows it: a sentence, where the VM is, and the conditions as a table. Pure. */
export function describeRun(run: VirtualMachineRun, status: VirtualMachineStatusPatch | null): string {
  const { virtualMachine, message, vmId, powerState, host } = describeProgress(run);
  const where =
    vmId === null
      ? 'no VM in vCenter'
      : `${vmId}, ${powerState ?? 'power state not known'}${host === null ? '' : `, on ${host}`}`;
  const conditions = status?.conditions ?? [];
  return [
    `**${virtualMachine}** ${message}`,
    '',
    where,
    ...(conditions.length === 0 ? [] : ['', ...conditionsTable(conditions)]),
  ].join('\n');
}
