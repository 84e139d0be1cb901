import type { Attempt } from '../../../../lab/openstack/fleet.ts';
import type { MigrateMode } from '../../../../lab/openstack/host-profile.ts';
import type { Cloud } from '../cloud.ts';
import type { MemoryCounters, Server, Transfer, TransferEnd } from '../model.ts';
import { hostNamed } from './records.ts';

/** How one attempt to move a guest goes. */
export interface Behaviour {
  readonly mode: MigrateMode;
  readonly seconds: number;
}

export const modes: readonly MigrateMode[] = [
  'ok',
  'hang',
  'slow',
  'fail',
  'error',
  'prefail',
  'precheck-dest',
  'precheck-source',
];

/**
 * By the guest's script, else its metadata, else its host's profile. The last entry of a list also holds for all
 * attempts after it.
 */
export function behaviourOf(cloud: Cloud, server: Server): Behaviour {
  const { profile } = hostNamed(cloud, server.host ?? '');
  const script = cloud.model.scripts.get(server.id);
  const number = Math.max(script?.started ?? 0, 1);
  const scripted: Attempt | undefined = entry(script?.attempts ?? [], number);
  const attempt = typeof scripted === 'string' ? { migrate: scripted } : (scripted ?? {});
  const mode = attempt.migrate ?? entry(listOf(server.metadata['lab:migrate']), number) ?? profile.migrate;
  const seconds = attempt.seconds ?? entry(listOf(server.metadata['lab:seconds']), number);
  return {
    mode: (modes as readonly string[]).includes(mode) ? (mode as MigrateMode) : 'ok',
    seconds: seconds === undefined || Number.isNaN(Number(seconds)) ? profile.seconds : Number(seconds),
  };
}

const listOf = (text: string | undefined): string[] =>
  text === undefined || text === '' ? [] : text.split(',').map((part) => part.trim());

const entry = <Item>(entries: readonly Item[], number: number): Item | undefined =>
  entries[Math.min(number, entries.length) - 1];

/**
 * Begins to copy a guest. `ended` is called once, at the moment at which the copy ends by its behaviour or
 * by a request.
 */
export function startTransfer(cloud: Cloud, server: Server, ended: (how: TransferEnd) => void): Transfer {
  const startedMs = cloud.clock.nowMs;
  let isOver = false;
  /** Counts the plans: only the latest one comes true. */
  let plan = 0;

  const finish = (how: TransferEnd): void => {
    if (isOver) return;
    isOver = true;
    ended(how);
  };
  const transfer: Transfer = {
    server,
    startedMs,
    end: finish,
    reconsider: () => {
      plan += 1;
      const current = plan;
      const { mode, seconds } = behaviourOf(cloud, server);
      if (isOver || mode === 'hang' || mode === 'slow') return;
      cloud.after(startedMs + seconds * 1_000 - cloud.clock.nowMs, () => {
        if (plan === current) finish(mode === 'fail' || mode === 'error' ? mode : 'ok');
      });
    },
  };
  transfer.reconsider();
  return transfer;
}

/** A stalled stream: some is over, then nothing moves any more. */
const hangsAt = 0.6;
/**
 * A guest that dirties its memory faster than the network carries it: each round begins with the high share left, and
 * ends with the low.
 */
const slow = { high: 0.5, low: 0.2, roundSeconds: 3 };

/** The hypervisor's counters of the memory that it copies, updated once a second. */
export function countersOf(cloud: Cloud, { server, startedMs }: Transfer): MemoryCounters {
  const { mode, seconds } = behaviourOf(cloud, server);
  const spent = Math.floor((cloud.clock.nowMs - startedMs) / 1_000);
  const total = server.flavor.memoryMiB * 1024 * 1024;
  const left =
    mode === 'hang'
      ? hangsAt
      : mode === 'slow'
        ? slow.high - ((slow.high - slow.low) * (spent % slow.roundSeconds)) / slow.roundSeconds
        : seconds === 0
          ? 0
          : Math.max(0, 1 - spent / seconds);
  const remaining = Math.floor(total * left);
  const sent =
    mode === 'slow'
      ? Math.floor(total * (0.5 + ((slow.high - slow.low) / slow.roundSeconds) * spent))
      : total - remaining;
  return { total, processed: sent, remaining };
}
