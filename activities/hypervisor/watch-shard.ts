import { createHash } from 'node:crypto';
import pLimit from 'p-limit';

import { findCondition } from '../../contracts/conditions.ts';
import type { Hypervisor } from '../../contracts/crds/hypervisor.ts';
import { hypervisorConditions } from '../../contracts/hypervisor/conditions.ts';
import { hypervisorMode } from '../../contracts/hypervisor/read-hypervisor.ts';
import {
  type GuestWatchInput,
  type GuestWatchRound,
  guestSignalEveryMs,
} from '../../contracts/node-failure/guest-watch.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { HypervisorConfig } from '../../runtime/config/hypervisor-config.ts';
import type { NodeFailureConfig } from '../../runtime/config/node-failure-config.ts';
import { droverFailure } from '../../runtime/failure.ts';
import { isError } from '../../runtime/is-error.ts';
import type { Random } from '../../runtime/random.ts';
import { redactedStart } from '../../runtime/redaction.ts';
import { type EventClient, writeEvent } from '../kubernetes/lib/write-event.ts';
import type { ActivityScope } from '../lib/context.ts';
import { whileBeating } from '../lib/wait.ts';
import { openLibvirt } from '../libvirt/access.ts';
import type { Domain } from '../libvirt/types.ts';
import { type GuestNotice, type GuestWatch, startGuestWatch } from '../libvirt/watch-guests.ts';
import { sameShortName } from '../nova/find-host.ts';
import type { NovaClient } from '../nova/types.ts';
import type { HostPorts } from './host-ports.ts';

export interface ShardTools {
  listHypervisors(signal: AbortSignal): Promise<Hypervisor[]>;
  nova: Pick<NovaClient, 'server'>;
  events: EventClient;
  /** Signals the run of the host's failure, starting it if none is open. */
  signalGuestsFailing(hypervisor: string, message: string): Promise<void>;
  /** Null where drover does not act on failed nodes. */
  settings: NodeFailureConfig['guestEvents'];
  libvirt: HypervisorConfig['libvirt'];
  scope: ActivityScope;
  clock: Clock;
  random: Random;
  ports: Pick<HostPorts, 'connectLibvirt' | 'readText'>;
}

const listEveryMs = 60_000;
/** For the connections to be closed, before Temporal's time-out. */
const stopMs = 10_000;
/** Connections that are being opened, and guests that Nova is asked about, at once: the rest waits. */
const opensAtOnce = 8;
const questionsAtOnce = 4;
/** Events written for one host within the window. */
const mostNotices = 20;

interface Watched {
  uid: string;
  address: string;
  watch: GuestWatch;
  signalled: { message: string; atMs: number } | null;
}

/**
 * Watches the guests of a shard's hypervisors for one round. A hypervisor that comes or goes is noticed
 * within a minute.
 */
export function watchShard(tools: ShardTools, { shard }: GuestWatchInput): Promise<GuestWatchRound> {
  const { settings, libvirt, scope, clock } = tools;
  if (!Number.isInteger(shard) || shard < 0)
    throw droverFailure('InvalidInput', 'A guest watch is {"shard": number}, from 0 on');
  if (settings === null || libvirt === null || shard >= settings.shards)
    return Promise.resolve({ wanted: false, hosts: 0, connected: 0, left: 0, signalled: 0, withheld: 0 });
  const watched = new Map<string, Watched>();
  const start = watchStarter(tools, settings, libvirt);
  const round = { left: 0, signalled: 0, withheld: 0 };
  const summary = (): GuestWatchRound => ({
    wanted: true,
    hosts: watched.size,
    connected: [...watched.values()].filter(({ watch }) => watch.isConnected).length,
    ...round,
  });

  const renew = async (): Promise<void> => {
    const all = (await tools.listHypervisors(scope.signal)).filter(
      (one) => isWatched(one) && shardOf(one.metadata.name, settings.shards) === shard,
    );
    const wanted = new Map(
      all
        .toSorted((a, b) => a.metadata.name.localeCompare(b.metadata.name, 'en'))
        .slice(0, settings.mostHosts)
        .map((one) => [one.metadata.name, one]),
    );
    round.left = all.length - wanted.size;
    for (const [name, { uid, address, watch }] of watched) {
      const now = wanted.get(name);
      if (now !== undefined && now.metadata.uid === uid && addressOf(now) === address) continue;
      watched.delete(name);
      await watch.stop();
    }
    for (const [name, one] of wanted)
      if (!watched.has(name))
        watched.set(name, {
          uid: one.metadata.uid,
          address: addressOf(one),
          watch: start(name, one.metadata.uid, addressOf(one)),
          signalled: null,
        });
  };

  const signal = async (name: string, one: Watched, message: string): Promise<void> => {
    if (one.signalled?.message !== message || clock.now() - one.signalled.atMs >= guestSignalEveryMs) {
      await tools.signalGuestsFailing(name, message);
      one.signalled = { message, atMs: clock.now() };
      round.signalled += 1;
    }
  };

  return whileBeating(tools, summary, async () => {
    let listedMs = -Infinity;
    try {
      while (clock.now() < scope.deadlineMs - stopMs) {
        scope.signal.throwIfAborted();
        if (clock.now() - listedMs >= listEveryMs) {
          await unlessFails(scope, 'Hypervisors cannot be listed', renew);
          listedMs = clock.now();
        }
        const failing = [...watched].flatMap(([name, one]) => {
          const message = one.watch.judge();
          if (message === null) one.signalled = null;
          return message === null ? [] : [{ name, one, message }];
        });
        if (isShared(failing.length, watched.size, settings)) round.withheld += 1;
        else
          for (const { name, one, message } of failing)
            await unlessFails(scope, `The run of ${name} cannot be signalled that its guests fail`, () =>
              signal(name, one, message),
            );
        await clock.sleep(settings.observeMs, scope.signal);
      }
      return summary();
    } finally {
      await Promise.all([...watched.values()].map(({ watch }) => watch.stop()));
    }
  });
}

/**
 * Whether so many hosts fail at once that it is rather something that they share, such as their storage: nothing would
 * be better where their servers went. Pure.
 */
export const isShared = (
  failing: number,
  watched: number,
  { mostFailingHosts }: { mostFailingHosts: number },
): boolean => failing > mostFailingHosts || (failing > 1 && failing * 2 >= watched);

/** What fails is tried again soon. */
async function unlessFails(scope: ActivityScope, what: string, work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    scope.signal.throwIfAborted();
    scope.warn(`${what}: ${redactedStart(isError(error) ? error.message : String(error), 600)}`);
  }
}

function watchStarter(
  tools: ShardTools,
  settings: NonNullable<ShardTools['settings']>,
  libvirt: NonNullable<ShardTools['libvirt']>,
) {
  const { nova, clock, random, scope, ports } = tools;
  const opening = pLimit(opensAtOnce);
  const asking = pLimit(questionsAtOnce);
  const { windowMs, ioErrors, failingGuests, verifyAfterMs } = settings;
  const shouldRun = async (name: string, { uuid }: Domain, signal: AbortSignal): Promise<boolean> => {
    const server = await nova.server(uuid, signal);
    return (
      server !== null &&
      server.host !== null &&
      (server.host === name || sameShortName(server.host, name)) &&
      server.vmState === 'active' &&
      server.taskState === null
    );
  };

  return (name: string, uid: string, address: string): GuestWatch => {
    const noticed = new Map<string, number>();
    const notice = ({ domain, verdict, message }: GuestNotice): void => {
      const nowMs = clock.now();
      for (const [key, atMs] of noticed) if (nowMs - atMs >= windowMs) noticed.delete(key);
      const key = `${domain.uuid} ${verdict}`;
      if (noticed.has(key) || noticed.size >= mostNotices) return;
      noticed.set(key, nowMs);
      void writeEvent(
        { client: tools.events, scope, clock },
        { regarding: { kind: 'Hypervisor', name, uid }, type: 'Warning', reason: noticeReasons[verdict], message },
        [uid, key, String(nowMs)],
      ).catch((error: unknown) =>
        scope.warn(`The event of ${domain.name} on ${name} was not written: ${redactedStart(String(error), 600)}`),
      );
    };
    return startGuestWatch({
      open: (signal) => opening(() => openLibvirt(ports, { libvirt, address }, signal)),
      shouldRun: (domain, signal) => asking(() => shouldRun(name, domain, signal)),
      notice,
      limits: { windowMs, ioErrors, failingGuests },
      verifyAfterMs,
      clock,
      random,
    });
  };
}

const noticeReasons = {
  evict: 'GuestStopped',
  restart: 'GuestWatchdog',
  notify: 'GuestIoError',
  migrate: 'GuestFailing',
} as const satisfies Record<GuestNotice['verdict'], string>;

/** Hosts whose failures drover handles. */
const isWatched = ({ metadata, status }: Hypervisor): boolean =>
  metadata.deletionTimestamp === undefined &&
  hypervisorMode(metadata.annotations) === 'act' &&
  findCondition(status?.conditions, hypervisorConditions.haEnabled)?.status === 'True';

const addressOf = ({ metadata, status }: Hypervisor): string => status?.internalIp || metadata.name;

/** The same everywhere, whatever the order in which hypervisors come. */
export const shardOf = (name: string, shards: number): number =>
  createHash('sha256').update(name).digest().readUInt32BE(0) % shards;
