import type {
  ComputeSign,
  FailureReason,
  FailureVerdict,
  HostSigns,
  LibvirtSign,
  NodeFailureSettings,
  NodeSign,
  Witness,
} from '../../contracts/node-failure/node-failure.ts';

/**
 * Whether a host has failed. Node, nova-compute and libvirt share a network, so their silence together proves nothing but that network's:
 * only a witness off it makes `failed` of silence. Whatever is missing or odd leads to `watch`. Pure; each branch is a row of the table
 * test. Sources: seed 001 "Node failure"; hypervisor.md B.10.
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
    words: `for ${minutes(nowMs - sinceMs)}`,
  });
  if (compute.state === 'up')
    return node.ready === 'True' ? judgeRunning(host, node, libvirt, lasting) : judgeNotReady(host, node, lasting);
  if (node.ready === 'True') return judgeComputeDown(host, compute, lasting);
  const heard = witnesses.filter(
    ({ atMs }) =>
      atMs <= nowMs && nowMs - atMs <= settings.witnessMaxAgeMs && atMs >= Math.max(node.sinceMs, compute.sinceMs),
  );
  return judgeSilent(host, node, libvirt, heard, lasting(Math.max(node.sinceMs, compute.sinceMs)));
}

interface Lasting {
  long: boolean;
  untilMs: number;
  words: string;
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

function judgeRunning(
  host: string,
  { pressures }: NodeSign,
  libvirt: LibvirtSign | null,
  since: (sinceMs: number) => Lasting,
): FailureVerdict {
  if (libvirt !== null && libvirt.verdict !== 'healthy') {
    const lasting = since(libvirt.sinceMs);
    if (libvirt.verdict === 'failing')
      return counted(
        lasting,
        'failed',
        'GuestsFailing',
        `Guests on ${host} fail ${lasting.words} while the host is up: ${libvirt.message}`,
        'yes',
      );
    return counted(
      lasting,
      'suspect',
      'LibvirtSilent',
      `libvirt on ${host} has not answered ${lasting.words} while nova-compute reports: ${libvirt.message}`,
      'yes',
    );
  }
  const [pressure] = pressures;
  if (pressure !== undefined)
    return {
      verdict: 'watch',
      reason: pressure,
      message: `${host} has ${pressures.join(' and ')}: no new servers should be placed there`,
      alive: 'yes',
      untilMs: null,
    };
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
    `The Node of ${host} has been Ready=${node.ready} ${lasting.words}, while nova-compute reports`,
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
    `nova-compute on ${host} has been down ${lasting.words}, while the kubelet reports: start nova-compute`,
    'yes',
  );
}

function judgeSilent(
  host: string,
  node: NodeSign,
  libvirt: LibvirtSign | null,
  heard: readonly Witness[],
  lasting: Lasting,
): FailureVerdict {
  const silent = `The kubelet and nova-compute of ${host} have not reported ${lasting.words}`;
  const speaks =
    libvirt !== null && libvirt.verdict !== 'silent'
      ? 'libvirt answers'
      : node.ready === 'False'
        ? 'the kubelet says itself that it is not ready'
        : null;
  if (speaks !== null)
    return counted(
      lasting,
      'suspect',
      'AgentsDown',
      `Neither the Node nor nova-compute of ${host} has been well ${lasting.words}, but ${speaks}: mend what runs on the host`,
      'yes',
    );
  const says = (what: Witness['says']): boolean => heard.some((witness) => witness.says === what);
  if (says('running'))
    return counted(
      lasting,
      'suspect',
      'Isolated',
      `${silent}, but its guests write to their disks: the host is cut off, not dead`,
      'yes',
    );
  if (!lasting.long)
    return { verdict: 'watch', reason: 'Silent', message: silent, alive: 'unknown', untilMs: lasting.untilMs };
  if (says('stopped'))
    return {
      verdict: 'failed',
      reason: 'Dead',
      message: `${silent}, and according to ${names(heard)}, off their network, nothing runs there`,
      alive: 'no',
      untilMs: null,
    };
  const powered = says('powered') ? 'its BMC tells only that it has power' : 'nothing off their network tells more';
  return {
    verdict: 'suspect',
    reason: 'NoWitness',
    message: `${silent}, and ${powered}: it may be dead, or cut off with its guests running`,
    alive: 'unknown',
    untilMs: null,
  };
}

const names = (heard: readonly Witness[]): string =>
  [
    ...new Set(
      heard.filter(({ says }) => says === 'stopped').map(({ kind }) => (kind === 'bmcPower' ? 'its BMC' : 'Ceph')),
    ),
  ].join(' and ');

const minutes = (ms: number): string =>
  ms < 120_000 ? `${Math.max(0, Math.round(ms / 1_000))} s` : `${Math.round(ms / 60_000)} min`;
