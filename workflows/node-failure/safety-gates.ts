import type { FleetView, GateDecision, GateName, GateSettings } from '../../contracts/node-failure/node-failure.ts';

/**
 * Whether drover may fence a failed host by itself now. Many hosts that seem dead at once are nearly always one broken network or one
 * broken observer, and the worst that can be done then is to power them off. Whatever is unknown holds. Pure; the first gate that is
 * shut is named. Source: hypervisor.md D, gates of InstanceHA.
 */
export function passGates(view: FleetView, settings: GateSettings, nowMs: number): GateDecision {
  const shut = gates.map((gate) => gate(view, settings, nowMs)).find((decision) => decision !== null);
  return shut ?? { gate: 'go' };
}

/** Gates that also hold what a person has confirmed: without these systems an evacuation can only fail. */
export const technicalGates: readonly GateName[] = ['ApisUnreachable', 'SchedulerDown'];

type Gate = (view: FleetView, settings: GateSettings, nowMs: number) => GateDecision | null;

const hold = (name: GateName, message: string): GateDecision => ({ gate: 'hold', name, message });

const ownApis: Gate = ({ apis }) => {
  const away = apis.filter(({ reachable }) => !reachable).map(({ name }) => name);
  if (apis.length > 0 && away.length === 0) return null;
  return hold(
    'ApisUnreachable',
    apis.length === 0
      ? 'It is not known whether drover reaches the APIs it depends on'
      : `drover does not reach ${away.join(', ')}, so the fault may be drover’s own`,
  );
};

const scheduler: Gate = ({ schedulerUp }) =>
  schedulerUp ? null : hold('SchedulerDown', 'No nova-scheduler is up, so no server would find a new host');

const massFailure: Gate = (view) => {
  const suspects = suspectsOf(view).length;
  if (suspects * 2 < view.hosts) return null;
  return hold(
    'MassFailure',
    `${suspects} of ${view.hosts} hosts seem to have failed at once: more likely a network or an observer has`,
  );
};

const domainFailure: Gate = (view, { domainWindowMs }) => {
  const own = suspectsOf(view).find(({ host }) => host === view.host);
  const near = suspectsOf(view).filter(
    ({ host, failureDomain, sinceMs }) =>
      host !== view.host &&
      failureDomain === view.failureDomain &&
      !(Math.abs(sinceMs - (own?.sinceMs ?? sinceMs)) > domainWindowMs),
  );
  if (near.length === 0) return null;
  const domain =
    view.failureDomain === null ? 'hosts without a known failure domain' : `the failure domain ${view.failureDomain}`;
  return hold(
    'DomainFailure',
    `Also ${near.map(({ host }) => host).join(', ')} of ${domain} seems to have failed within ${domainWindowMs / 60_000} min of ${view.host}`,
  );
};

const oneAtATime: Gate = ({ lastFencingMs }, { cycleMs }, nowMs) =>
  lastFencingMs === null || nowMs - lastFencingMs >= cycleMs
    ? null
    : hold('OneAtATime', `Another host was fenced less than ${cycleMs / 60_000} min ago; one at a time`);

const aggregateLimit: Gate = ({ aggregates }, { mostFencedPerAggregate }) => {
  const full = aggregates.find(({ mostFenced, fenced }) => !(fenced < (mostFenced ?? mostFencedPerAggregate)));
  if (full === undefined) return null;
  return hold(
    'AggregateLimit',
    `${full.fenced} hosts of the aggregate ${full.name} are fenced and not restored; at most ${full.mostFenced ?? mostFencedPerAggregate} may be`,
  );
};

const gates: readonly Gate[] = [ownApis, scheduler, massFailure, domainFailure, oneAtATime, aggregateLimit];

/** The host itself is one, whether or not whoever listed them had heard of it. */
const suspectsOf = (view: FleetView): FleetView['suspects'] =>
  view.suspects.some(({ host }) => host === view.host)
    ? view.suspects
    : [...view.suspects, { host: view.host, failureDomain: view.failureDomain, sinceMs: Number.NaN }];
