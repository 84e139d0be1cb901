import { findCondition } from '../../contracts/conditions.ts';
import { hypervisorConditions } from '../../contracts/hypervisor/conditions.ts';
import type { HypervisorProgress, HypervisorStatusPatch } from '../../contracts/hypervisor/hypervisor.ts';
import { conditionsTable } from '../lib/conditions-table.ts';
import type { HypervisorRun } from './run.ts';

/** The answer to the query `progress`. Pure. */
export function describeProgress({ name, seen, state, waiting, message }: HypervisorRun): HypervisorProgress {
  return {
    hypervisor: name,
    state: findCondition(seen?.observed.recorded.conditions ?? [], hypervisorConditions.lifecycle)?.reason ?? null,
    message,
    waitingFor: waiting?.for ?? null,
    nextWakeUp: waiting === null ? null : new Date(waiting.untilMs).toISOString(),
    failure: state.failure?.message ?? null,
    tests: state.tests.map(({ check, attempts, results }) => ({
      check,
      attempts,
      passed: results.length > 0 && results.every(({ outcome }) => outcome === 'passed'),
    })),
  };
}

/** The run as the Web UI shows it: a sentence, and the conditions as a table. Pure. */
export function describeRun({ name, message, seen }: HypervisorRun, status: HypervisorStatusPatch | null): string {
  const nova = seen?.observed.nova ?? null;
  const on =
    nova === null ? 'not in Nova' : `${nova.servers} servers, service ${nova.service.status} and ${nova.service.state}`;
  return [`**${name}** ${message}`, '', on, '', ...conditionsTable(status?.conditions ?? [])].join('\n');
}
