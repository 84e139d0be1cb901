import type { EvictionProgress, InstanceProgress } from '../../contracts/eviction/eviction.ts';
import type { Ending } from '../eviction/eviction-objects.ts';

/** A command that a person can type as it stands, and what it does. */
export interface NextCommand {
  command: string;
  why: string;
}

export interface Situation {
  host: string;
  /** A run is going on. */
  running: boolean;
  /** What it or, once it has ended, the last one answered; null when no worker did. */
  progress: EvictionProgress | null;
  /** How the last run ended, where none is running. */
  outcome: Ending['outcome'] | null;
  /** The Eviction of the host, where there is one. */
  eviction: { name: string; reconciled: boolean } | null;
  /** Ids of the obstacles that no user has accepted. */
  obstacles: readonly string[];
  /** A `drover stop` holds it up. */
  stopped: boolean;
  /** It has ended and left the compute service disabled; null when that is not known. */
  leftDisabled: boolean | null;
}

/** More of the same are not printed: one line shows how, the table shows the rest. */
export const examples = 3;

/** What a person may want to type next, the most likely first. */
export function nextCommands(situation: Situation): NextCommand[] {
  if (situation.running) return [...unblock(situation), ...steer(situation)];
  return situation.outcome === null ? beginning(situation) : afterwards(situation, situation.outcome);
}

function unblock({ host, progress, obstacles, stopped }: Situation): NextCommand[] {
  if (progress === null) return [...noWorker];
  return [
    ...(stopped ? liftStop : []),
    ...(progress.paused === null
      ? []
      : [{ command: `drover resume ${host}`, why: `go on: it is paused (${progress.paused})` }]),
    ...acceptObstacles(host, obstacles),
    ...freeInstances(host, progress),
  ];
}

export const noWorker: readonly NextCommand[] = [
  { command: 'drover doctor', why: 'no worker answers for this run: see which queue is not polled' },
  { command: 'drover worker', why: 'start a worker here' },
];

export const liftStop: readonly NextCommand[] = [
  { command: 'drover stop --show', why: 'see who stopped drover, and why' },
  { command: 'drover stop --lift', why: 'let drover go on' },
];

const acceptObstacles = (host: string, obstacles: readonly string[]): NextCommand[] =>
  obstacles.slice(0, examples).map((id) => ({ command: `drover accept ${host} ${id}`, why: 'go on in spite of it' }));

function freeInstances(host: string, { instances }: EvictionProgress): NextCommand[] {
  const stuck = instances.filter(({ state }) => state === 'blocked').slice(0, examples);
  return stuck.flatMap((instance) => {
    const name = reference(instance, instances);
    return [
      { command: `drover retry ${host} ${name}`, why: 'try this instance again' },
      { command: `drover skip ${host} ${name}`, why: 'leave it where it is' },
    ];
  });
}

/** How the command line can name a server: by its name where that is safe to type and the only one, else by its id. */
function reference({ id, name }: InstanceProgress, all: readonly InstanceProgress[]): string {
  const unique = all.filter((other) => other.name === name).length === 1;
  return unique && /^[A-Za-z0-9][A-Za-z0-9._-]*$/.test(name) ? name : id;
}

const steer = ({ host }: Situation): NextCommand[] => [
  { command: `drover watch ${host}`, why: 'follow it' },
  { command: `drover cancel ${host}`, why: 'stop it once what moves now has moved; --abort does not wait for that' },
];

function beginning({ host, eviction, stopped }: Situation): NextCommand[] {
  if (eviction === null) return [{ command: `drover evict ${host} --reason "…"`, why: 'empty the host' }];
  if (eviction.reconciled) return [{ command: `drover retry ${host}`, why: 'do it again' }];
  return [
    ...(stopped ? liftStop : []),
    { command: `drover retry ${host}`, why: 'start it now: no run has taken it up' },
    { command: 'drover doctor', why: 'see whether the bridge and the workers are there' },
    { command: `kubectl delete evictions.kvm.cloud.sap ${eviction.name}`, why: 'give it up' },
  ];
}

function afterwards(situation: Situation, ended: Ending['outcome']): NextCommand[] {
  const { host, obstacles, stopped } = situation;
  switch (ended) {
    case 'Succeeded':
    case 'NothingToDo':
    case 'HandedOver':
      return [
        ...giveBack(situation, 'give the host back when its work is done'),
        { command: 'drover ls', why: 'see what else is in motion' },
      ];
    case 'Observed':
      return [{ command: `drover evict ${host} --reason "…"`, why: 'do what was planned' }];
    case 'Failed':
    case 'Stopped':
    case 'Terminated':
      return [
        ...(stopped ? liftStop : []),
        ...(ended === 'Failed' ? acceptObstacles(host, obstacles) : []),
        { command: `drover retry ${host}`, why: 'go on with what is left' },
        ...giveBack({ ...situation, leftDisabled: situation.leftDisabled ?? true }, 'give the host back instead'),
      ];
  }
}

const giveBack = ({ host, leftDisabled }: Situation, why: string): NextCommand[] =>
  leftDisabled === true ? [{ command: `openstack compute service set --enable ${host} nova-compute`, why }] : [];
