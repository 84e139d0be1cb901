import type {
  ComputeSign,
  FailureReason,
  FailureVerdict,
  FleetView,
  GateDecision,
  GateName,
  GateSettings,
  HostSigns,
  LibvirtSign,
  NodeFailureSettings,
  NodeSign,
  Witness,
  WitnessKind,
} from '../../contracts/node-failure/node-failure.ts';

/**
 * Whether a host has failed. Node, nova-compute and libvirt share a network, so their silence together proves nothing
 * but that network's: only a BMC that says Off makes `failed` of silence. A Node that is gone is as silent as one that
 * is Unknown. Whatever could not be read leads to `watch`. Pure; each branch is a row of the table test, and of the
 * table in docs/node-failure.md.
 */
export function judgeNodeFailure(
  { host, node, compute, libvirt, witnesses }: HostSigns,
  settings: NodeFailureSettings,
  nowMs: number,
): FailureVerdict {
  if (node === null || compute === null) {
    const missing = [...(node === null ? ['its Node'] : []), ...(compute === null ? ['its compute service'] : [])].join(
      ' and ',
    );
    return {
      verdict: 'watch',
      reason: 'NotObserved',
      message: `${host} cannot be judged: ${missing} could not be read`,
      alive: 'unknown',
      untilMs: null,
    };
  }
  const lasting = (sinceMs: number): Lasting => ({
    long: nowMs - sinceMs >= settings.failAfterMs,
    untilMs: sinceMs + settings.failAfterMs,
    duration: `for ${minutes(nowMs - sinceMs)}`,
  });
  if (compute.state === 'up') {
    if (node.ready === 'Gone') return judgeNodeGone(host, node, lasting);
    return node.ready === 'True' ? judgeRunning(host, libvirt, lasting) : judgeNotReady(host, node, lasting);
  }
  if (node.ready === 'True') return judgeComputeDown(host, compute, lasting);
  const valid = witnesses.filter(
    ({ atMs }) =>
      atMs <= nowMs && nowMs - atMs <= settings.witnessMaxAgeMs && atMs >= Math.max(node.sinceMs, compute.sinceMs),
  );
  return judgeSilent(host, node, libvirt, valid, lasting(Math.max(node.sinceMs, compute.sinceMs)));
}

interface Lasting {
  long: boolean;
  untilMs: number;
  duration: string;
}

/** A sign that counts when it lasts; until then the host is watched. */
function counted(
  lasting: Lasting,
  verdict: 'suspect' | 'failed',
  reason: FailureReason,
  message: string,
  alive: FailureVerdict['alive'],
): FailureVerdict {
  return lasting.long
    ? { verdict, reason, message, alive, untilMs: null }
    : { verdict: 'watch', reason, message, alive, untilMs: lasting.untilMs };
}

function judgeRunning(host: string, libvirt: LibvirtSign | null, since: (sinceMs: number) => Lasting): FailureVerdict {
  if (libvirt !== null && libvirt.verdict !== 'healthy') {
    const lasting = since(libvirt.sinceMs);
    if (libvirt.verdict === 'failing')
      return counted(
        lasting,
        'failed',
        'GuestsFailing',
        `Guests on ${host} fail ${lasting.duration} while the host is up: ${libvirt.message}`,
        'yes',
      );
    return counted(
      lasting,
      'suspect',
      'LibvirtSilent',
      `libvirt on ${host} has not answered ${lasting.duration} while nova-compute reports: ${libvirt.message}`,
      'yes',
    );
  }
  return {
    verdict: 'healthy',
    reason: 'Healthy',
    message: `${host} reports as it should`,
    alive: 'yes',
    untilMs: null,
  };
}

/** nova-compute reports, so the host lives and its servers can leave it live. */
function judgeNotReady(host: string, node: NodeSign, since: (sinceMs: number) => Lasting): FailureVerdict {
  const lasting = since(node.sinceMs);
  return counted(
    lasting,
    'failed',
    'NodeNotReady',
    `The Node of ${host} has been Ready=${node.ready} ${lasting.duration}, while nova-compute reports`,
    'yes',
  );
}

/**
 * nova-compute reports, so the host lives; but no kubelet watches over it, and no Eviction of its drain can be made.
 */
function judgeNodeGone(host: string, node: NodeSign, since: (sinceMs: number) => Lasting): FailureVerdict {
  const lasting = since(node.sinceMs);
  return counted(
    lasting,
    'suspect',
    'NodeGone',
    `${host} has no Node any more, and its kubelet has not reported ${lasting.duration}, while nova-compute does: its servers run; start its kubelet, or empty it`,
    'yes',
  );
}

/** The kubelet reports, so the host lives; its servers run, and nothing but nova-compute needs mending. */
function judgeComputeDown(host: string, compute: ComputeSign, since: (sinceMs: number) => Lasting): FailureVerdict {
  const lasting = since(compute.sinceMs);
  return counted(
    lasting,
    'suspect',
    'ComputeDown',
    `nova-compute on ${host} has been down ${lasting.duration}, while the kubelet reports: start nova-compute`,
    'yes',
  );
}

function judgeSilent(
  host: string,
  node: NodeSign,
  libvirt: LibvirtSign | null,
  valid: readonly Witness[],
  lasting: Lasting,
): FailureVerdict {
  const silent =
    node.ready === 'Gone'
      ? `${host} has no Node any more, and nova-compute on it has not reported ${lasting.duration}`
      : `The kubelet and nova-compute of ${host} have not reported ${lasting.duration}`;
  const heard = (kind: WitnessKind): Witness | undefined =>
    valid.find((witness) => witness.kind === kind && witness.says === 'alive');
  const agent = heard('agent');
  const alive =
    libvirt !== null && libvirt.verdict !== 'silent'
      ? 'libvirt answers'
      : node.ready === 'False'
        ? 'the kubelet says itself that it is not ready'
        : agent === undefined
          ? null
          : agent.message;
  if (alive !== null)
    return counted(
      lasting,
      'suspect',
      'AgentsDown',
      `Neither the Node nor nova-compute of ${host} has been well ${lasting.duration}, but ${alive}: mend what runs on the host`,
      'yes',
    );
  if (!lasting.long)
    return { verdict: 'watch', reason: 'Silent', message: silent, alive: 'unknown', untilMs: lasting.untilMs };
  const power = valid.find(({ kind }) => kind === 'bmc')?.says;
  if (power === 'off')
    return {
      verdict: 'failed',
      reason: 'Dead',
      message: `${silent}, and according to its BMC, off their network, it has no power: nothing runs there`,
      alive: 'no',
      untilMs: null,
    };
  const powered =
    power === 'powered' ? 'its BMC says only that it has power' : 'no witness off their network says more';
  return {
    verdict: 'suspect',
    reason: 'NoWitness',
    message: `${silent}, and ${powered}: it may be dead, or cut off with its guests running`,
    alive: 'unknown',
    untilMs: null,
  };
}

export const minutes = (ms: number): string =>
  ms < 120_000 ? `${Math.max(0, Math.round(ms / 1_000))} s` : `${Math.round(ms / 60_000)} min`;

/** What on the host reports or answers, as a sentence; null where all is silent. A host that does is not off. Pure. */
export function signOfService({ host, node, compute, libvirt }: HostSigns): string | null {
  if (node?.ready === 'True' || node?.ready === 'False') return `the kubelet of ${host} reports`;
  if (compute?.state === 'up') return `nova-compute on ${host} reports`;
  return libvirt !== null && libvirt.verdict !== 'silent' ? `libvirt on ${host} answers` : null;
}

/**
 * Whether drover may fence a failed host by itself now. Many hosts that seem dead at once are nearly always one broken
 * network or one broken observer, and the worst that can be done then is to power them off. Whatever is unknown holds.
 * Pure; the first gate that is shut is named.
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

/** The host itself is one, whether or not it is in the list. */
const suspectsOf = (view: FleetView): FleetView['suspects'] =>
  view.suspects.some(({ host }) => host === view.host)
    ? view.suspects
    : [...view.suspects, { host: view.host, failureDomain: view.failureDomain, sinceMs: Number.NaN }];
