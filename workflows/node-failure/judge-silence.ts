import {
  silenceBudgetMs,
  witnessPaths,
  type HostSigns,
  type SilenceDecision,
  type SilenceRefusal,
  type SilenceSettings,
  type SilentFencing,
  type Witness,
} from '../../contracts/node-failure/node-failure.ts';
import { minutes, signOfService } from './judge.ts';

/** What is decided by, besides the signs. */
export interface SilenceView {
  /** Null: a host that has power is left to an operator. */
  settings: SilenceSettings | null;
  /** A witness that observed longer ago does not count. */
  witnessMaxAgeMs: number;
  incident: string;
  /** Null: it is not known which hosts were fenced so. */
  fencings: readonly SilentFencing[] | null;
}

/**
 * Whether a host that has power and is silent (a panic, a hang, a dead network card) may be powered off by drover
 * itself. A quorum of witnesses must have heard nothing for long, no two of them over one path; one that has heard
 * anything forbids it, however many have not; one that cannot be had counts for nothing. Whatever is no number holds.
 * The gates of the fleet are judged besides. Pure; each refusal is a row of the table test,
 * and of docs/node-failure.md.
 */
export function judgeSilence(
  signs: HostSigns,
  { settings, witnessMaxAgeMs, incident, fencings }: SilenceView,
  nowMs: number,
): SilenceDecision {
  const { host, node, compute, witnesses } = signs;
  if (settings === null) return refuse('SwitchedOff', 'nodeFailure.fenceSilent is not set');
  const { quorum, afterMs, mostPerHour } = settings;
  const reporting = signOfService(signs);
  if (reporting !== null) return refuse('WitnessAlive', reporting);
  const alive = witnesses.find(({ says }) => says === 'alive');
  if (alive !== undefined) return refuse('WitnessAlive', `${nameOf(alive)} has heard of ${host}: ${alive.message}`);
  // Where there is no Node it was deleted, which is no silence.
  if (node?.ready !== 'Unknown' || compute?.state !== 'down')
    return refuse('NotSilent', `it is not known that both the kubelet and nova-compute of ${host} are silent`);

  const fresh = witnesses.filter(({ atMs }) => atMs <= nowMs && nowMs - atMs <= witnessMaxAgeMs);
  const power = fresh.find(({ kind }) => kind === 'bmc');
  if (power?.says !== 'powered')
    return refuse(
      'PowerUnknown',
      `no BMC says that ${host} has power, so it is not known whether it can be taken away`,
    );
  const silent = fresh.filter(({ kind, says }) => says === 'silent' && kind !== 'bmc');
  const paths = new Set(silent.map(({ kind }) => witnessPaths[kind]));
  if (!(paths.size >= quorum))
    return refuse(
      'NoQuorum',
      `of the ${quorum} witnesses on different paths that it takes, ${paths.size === 0 ? 'none observes' : `${paths.size} observe`} that nothing is heard of ${host}${silent.length === 0 ? '' : `: ${namesOf(silent)}`}`,
    );
  // One that had no power a short time ago was mended, and may be booting.
  if (!(nowMs - power.sinceMs >= afterMs))
    return refuse(
      'TooShort',
      `its BMC has said for ${minutes(nowMs - power.sinceMs)} only that ${host} has power, so it may be booting`,
      power.sinceMs + afterMs,
    );
  // One that has heard of it a short time ago is a word for its life then.
  const latestMs = Math.max(...silent.map(({ sinceMs }) => sinceMs));
  if (!(nowMs - latestMs >= afterMs))
    return refuse(
      'TooShort',
      `${namesOf(silent)} have not all heard nothing of ${host} for ${minutes(afterMs)} yet`,
      latestMs + afterMs,
    );
  if (fencings === null)
    return refuse('BudgetUnknown', 'it is not known which hosts were fenced so within the last hour');
  const spent = fencings.filter((one) => one.incident !== incident && !(nowMs - one.atMs >= silenceBudgetMs));
  if (!(spent.length < mostPerHour))
    return refuse(
      'BudgetSpent',
      `within the last hour ${spent.map((one) => one.host).join(', ')} ${spent.length === 1 ? 'was' : 'were'} fenced so, and ${mostPerHour} may be`,
      Math.min(...spent.map(({ atMs }) => atMs)) + silenceBudgetMs,
    );
  return {
    fence: true,
    message: `${host} has power and is silent: for ${minutes(nowMs - latestMs)} nothing was heard of it by ${namesOf(silent)}`,
  };
}

const refuse = (reason: SilenceRefusal, message: string, untilMs: number | null = null): SilenceDecision => ({
  fence: false,
  reason,
  message,
  untilMs,
});

const witnessNames: Record<Witness['kind'], string> = {
  bmc: 'its BMC',
  libvirt: 'drover, from libvirt',
  nova: 'Nova',
  kubelet: 'kube-apiserver, from the kubelet',
  agent: 'kube-apiserver, from the Lease of the Node',
};

const nameOf = ({ kind }: Witness): string => witnessNames[kind];

const namesOf = (witnesses: readonly Witness[]): string => {
  const names = witnesses.map(nameOf);
  return names.length < 2 ? names.join('') : `${names.slice(0, -1).join(', ')} and ${names.at(-1)}`;
};
