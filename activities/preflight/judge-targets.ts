import type { Obstacle } from '../../contracts/eviction/eviction.ts';
import type { ComputeServiceRecord, Hypervisor } from '../nova/types.ts';
import type { HypervisorFacts } from './facts.ts';
import { hostObstacle, listed } from './obstacle.ts';
import { isOlder } from './versions.ts';

/** A host with all that decides whether servers may go there. */
export interface HostCandidate {
  service: ComputeServiceRecord;
  hypervisor: Hypervisor;
  facts: HypervisorFacts | null;
  /** An Eviction of it is open. */
  isEvicting: boolean;
}

/** Why a host is no target; null where it is one. */
export type Exclusion =
  | 'down'
  | 'disabled'
  | 'in maintenance'
  | 'being emptied'
  | 'another hypervisor type'
  | 'too old'
  | 'being updated'
  | 'without facts of its node agent';

/**
 * Whether servers of `source` may go to `target`. The node agent's facts are asked of targets only where the source has them: in a cloud
 * without node agents Nova's own hypervisor version decides alone, and that the agent is missing is one obstacle of the source.
 *
 * Source: seed 001 "OS validation", "Capacity"; design section 5, step 1. Nova itself refuses another hypervisor type and an older version.
 */
export function judgeTarget(source: HostCandidate, target: HostCandidate): Exclusion | null {
  const { service, hypervisor, facts } = target;
  if (service.state === 'down' || service.forcedDown) return 'down';
  if (service.status === 'disabled') return 'disabled';
  if (facts !== null && facts.maintenance !== '') return 'in maintenance';
  if (target.isEvicting) return 'being emptied';
  if (hypervisor.hypervisorType !== source.hypervisor.hypervisorType) return 'another hypervisor type';
  if (hypervisor.hypervisorVersion < source.hypervisor.hypervisorVersion) return 'too old';
  if (facts?.osUpdateInProgress === true) return 'being updated';
  return source.facts === null ? null : judgeFacts(source.facts, facts);
}

function judgeFacts(source: HypervisorFacts, target: HypervisorFacts | null): Exclusion | null {
  for (const version of ['libVirtVersion', 'hypervisorVersion'] as const) {
    const least = source[version];
    if (least === null) continue;
    const reported = target?.[version] ?? null;
    const older = reported === null ? null : isOlder(reported, least);
    if (older === null) return 'without facts of its node agent';
    if (older) return 'too old';
  }
  return null;
}

export interface Targets {
  targets: HostCandidate[];
  /** Why there is none; null where there is one. */
  obstacle: Obstacle | null;
}

/** Splits all other hosts into targets and the rest. */
export function chooseTargets(source: HostCandidate, others: readonly HostCandidate[]): Targets {
  const judged = others.map((host) => ({ host, exclusion: judgeTarget(source, host) }));
  const targets = judged.filter(({ exclusion }) => exclusion === null).map(({ host }) => host);
  if (targets.length > 0) return { targets, obstacle: null };
  const from = source.service.host;
  if (judged.length === 0)
    return {
      targets,
      obstacle: hostObstacle('NoTargets', `${from} is the only compute host, so its servers have nowhere to go`),
    };
  const reasons = judged.map(({ host, exclusion }) => `${host.service.host} is ${exclusion}`);
  // Hosts that would do but for their age are a matter of updating them first.
  const code = judged.some(({ exclusion }) => exclusion === 'too old') ? 'TargetTooOld' : 'NoTargets';
  return { targets, obstacle: hostObstacle(code, `No other host may take the servers of ${from}: ${listed(reasons)}`) };
}
