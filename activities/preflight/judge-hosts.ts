import { findCondition } from '../../contracts/conditions.ts';
import type { Eviction } from '../../contracts/crds/eviction.ts';
import type { Hypervisor } from '../../contracts/crds/hypervisor.ts';
import { onlyObserves } from '../../contracts/eviction/annotations.ts';
import type { Obstacle } from '../../contracts/eviction/eviction.ts';
import type { ComputeService } from '../../contracts/eviction/instance.ts';
import { quantityOf } from '../../contracts/quantity.ts';
import { firstLabel, sameShortName } from '../nova/find-host.ts';
import type { ComputeServiceRecord, Hypervisor as NovaHypervisor } from '../nova/types.ts';
import type { NumaCell } from './numa.ts';
import { hostObstacle, listed } from './obstacles.ts';

/** What is wrong with the host that shall be emptied. */
export function judgeSource(host: string, service: ComputeService, report: AgentReport | null): Obstacle[] {
  const obstacles: Obstacle[] = [];
  if (service.state === 'down' || service.forcedDown) {
    obstacles.push(
      hostObstacle(
        'HostDown',
        `nova-compute on ${host} is ${service.forcedDown ? 'forced down' : 'down'}, so nothing can be moved live off it`,
      ),
    );
  }
  if (report === null)
    obstacles.push(
      hostObstacle(
        'AgentReportMissing',
        `No node agent reports on ${host}: it has no Hypervisor, so its versions and updates are unknown`,
      ),
    );
  else if (report.libVirtVersion === null || report.hypervisorVersion === null) {
    obstacles.push(
      hostObstacle(
        'AgentReportMissing',
        `The node agent of ${host} has not reported the versions of libvirt and the hypervisor`,
      ),
    );
  }
  if (report?.osUpdateInProgress === true)
    obstacles.push(hostObstacle('OsUpdateInProgress', `The operating system of ${host} is being updated`));
  return obstacles;
}

/** A host with all that decides whether servers may go there. */
export interface HostCandidate {
  service: ComputeServiceRecord;
  hypervisor: NovaHypervisor;
  report: AgentReport | null;
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
  | 'without a report of its node agent';

/**
 * Whether servers of `source` may go to `target`. The node agent's report is required of targets only where the source
 * has them: in a cloud without node agents Nova's own hypervisor version decides alone, and that the agent is missing
 * is one obstacle of the source.
 *
 * Nova itself refuses another hypervisor type and an older version.
 */
export function judgeTarget(source: HostCandidate, target: HostCandidate): Exclusion | null {
  const { service, hypervisor, report } = target;
  if (service.state === 'down' || service.forcedDown) return 'down';
  if (service.status === 'disabled') return 'disabled';
  if (report !== null && report.maintenance !== '') return 'in maintenance';
  if (target.isEvicting) return 'being emptied';
  if (hypervisor.hypervisorType !== source.hypervisor.hypervisorType) return 'another hypervisor type';
  if (hypervisor.hypervisorVersion < source.hypervisor.hypervisorVersion) return 'too old';
  if (report?.osUpdateInProgress === true) return 'being updated';
  return source.report === null ? null : judgeReport(source.report, report);
}

function judgeReport(source: AgentReport, target: AgentReport | null): Exclusion | null {
  for (const version of ['libVirtVersion', 'hypervisorVersion'] as const) {
    const least = source[version];
    if (least === null) continue;
    const reported = target?.[version] ?? null;
    const older = reported === null ? null : isOlder(reported, least);
    if (older === null) return 'without a report of its node agent';
    if (older) return 'too old';
  }
  return null;
}

interface Targets {
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

/**
 * Whether a version such as `10.0.0` is lower than another; null where either is no such version. Missing parts count
 * as 0.
 */
export function isOlder(version: string, than: string): boolean | null {
  const [left, right] = [parse(version), parse(than)];
  if (left === null || right === null) return null;
  for (let part = 0; part < Math.max(left.length, right.length); part += 1) {
    const difference = (left[part] ?? 0) - (right[part] ?? 0);
    if (difference !== 0) return difference < 0;
  }
  return false;
}

const parse = (version: string): number[] | null =>
  /^\d+(\.\d+)*$/u.test(version) ? version.split('.').map(Number) : null;

/** What the node agent reports of a host in its Hypervisor, as far as an eviction cares. Null: not known. */
export interface AgentReport {
  /** Name of the Hypervisor, which is the node's: Nova's host with or without its domain. */
  name: string;
  /** Nova's hypervisor, and Placement's provider. */
  hypervisorId: string | null;
  /** As `10.0.0`. */
  libVirtVersion: string | null;
  /** As `9.2.0`. */
  hypervisorVersion: string | null;
  osUpdateInProgress: boolean;
  /** `manual`, `auto`, `ha` or `termination`; empty for none. */
  maintenance: string;
  /** NUMA cells; empty: not reported. */
  cells: NumaCell[];
}

export const readAgentReport = ({ metadata, spec, status }: Hypervisor): AgentReport => ({
  name: metadata.name,
  hypervisorId: status?.hypervisorId || null,
  libVirtVersion: known(status?.libVirtVersion),
  hypervisorVersion: known(status?.hypervisorVersion),
  osUpdateInProgress: status?.updateStatus?.inProgress ?? false,
  maintenance: spec?.maintenance ?? '',
  cells: (status?.cells ?? []).map(({ capacity }) => ({
    cpus: amountOf(capacity?.['cpu']),
    memoryMiB: mebibytes(amountOf(capacity?.['memory'])),
  })),
});

const amountOf = (amount: string | number | undefined): number | null =>
  amount === undefined ? null : quantityOf(amount);
const mebibytes = (bytes: number | null): number | null => (bytes === null ? null : bytes / 2 ** 20);

/** The node agent writes `unknown` until it has asked libvirt. */
const known = (version: string | undefined): string | null =>
  version === undefined || version === '' || version === 'unknown' ? null : version;

/** Finds the node agent's report of one host; null where no Hypervisor, or more than one, can be its own. */
export type ReportOf = (host: { id: string; serviceHost: string; hypervisorHostname: string }) => AgentReport | null;

/** Indexed, as each host of a region is asked for. */
export function reportsBy(all: readonly AgentReport[]): ReportOf {
  const byId = new Map<string, AgentReport>();
  for (const report of all.toReversed()) if (report.hypervisorId !== null) byId.set(report.hypervisorId, report);
  const byName = Map.groupBy(all, ({ name }) => name);
  const byLabel = Map.groupBy(all, ({ name }) => firstLabel(name).toLowerCase());
  return ({ id, serviceHost, hypervisorHostname }) => {
    const known = byId.get(id);
    if (known !== undefined) return known;
    const names = [...new Set([serviceHost, hypervisorHostname])];
    const exact = names.flatMap((name) => byName.get(name) ?? []);
    const short = (): AgentReport[] => [
      ...new Set(
        names.flatMap((one) =>
          (byLabel.get(firstLabel(one).toLowerCase()) ?? []).filter(({ name }) => sameShortName(one, name)),
        ),
      ),
    ];
    const matches = exact.length > 0 ? exact : short();
    return matches.length === 1 ? matches[0]! : null;
  };
}

/** An Eviction that still has servers to place, as far as is known. */
export interface OpenEviction {
  uid: string;
  hypervisor: string;
  /** RFC 3339. */
  createdAt: string;
}

/**
 * Those that have not ended and that are not deleted. One that only observes moves nothing, and is never `Evicting`.
 * Where drover only observes, others act on the rest: these count.
 */
export const openEvictions = (evictions: readonly Eviction[]): OpenEviction[] =>
  evictions
    .filter(
      ({ metadata, status }) =>
        metadata.deletionTimestamp === undefined &&
        !onlyObserves(metadata, 'act') &&
        findCondition(status?.conditions, 'Evicting')?.status !== 'False',
    )
    .map(({ metadata, spec }) => ({
      uid: metadata.uid,
      hypervisor: spec.hypervisor,
      createdAt: metadata.creationTimestamp,
    }));
