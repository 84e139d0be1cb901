import { ApplicationFailure } from '@temporalio/common';

import type { HostCheck } from '../../contracts/hypervisor/host-check.ts';
import type { RbdPoolObservation } from '../../contracts/rbd-pool.ts';
import { type Clock, withTimeout } from '../../runtime/clock.ts';
import type { CephConfig, LibvirtConfig } from '../../runtime/config/hypervisor-config.ts';
import { droverFailure, failureCode, failureDetail } from '../../runtime/failure.ts';
import { failedBy, timed } from '../../runtime/host-check.ts';
import { requireText } from '../../runtime/read-text.ts';
import { askedReach, judgeReach } from '../ceph/check-ceph.ts';
import { withLibvirt } from '../libvirt/access.ts';
import { refusalCode, virErrors } from '../libvirt/faults.ts';
import type { LibvirtConnection, RbdPool } from '../libvirt/types.ts';
import { checkPrefix, ownUuid } from '../libvirt/xml.ts';
import type { HostPorts } from './host-ports.ts';

export interface ReachTools extends Pick<HostPorts, 'connectLibvirt' | 'readText'> {
  clock: Clock;
}

export interface ReachRequest {
  /** As people know the host. */
  hypervisor: string;
  /** Where its libvirt is reached. */
  address: string;
  libvirt: LibvirtConfig;
  rbd: NonNullable<CephConfig['rbd']>;
  pools: readonly string[];
}

/** The one in libvirt's memory while the pools are listed; another check of the same host defines the same. */
const secretUuid = ownUuid('drover-check-ceph');

/**
 * Whether the hypervisor itself reaches the pools: its libvirt lists each, one after the other. Leaves neither pool nor
 * key behind. What is wrong with the host is a finding.
 *
 * @throws InvalidConfiguration where the file with Ceph's key cannot be read, or has none; the signal's reason when it
 * is aborted
 */
export async function reachRbdPools(
  { connectLibvirt, readText, clock }: ReachTools,
  { hypervisor, address, libvirt, rbd, pools }: ReachRequest,
  signal: AbortSignal,
): Promise<HostCheck[]> {
  const key =
    rbd.keyFile === null
      ? null
      : readKey(
          rbd.keyFile,
          await requireText(readText, rbd.keyFile, `hypervisor.ceph.rbd.keyFile: ${rbd.keyFile}`, signal),
        );
  const startedMs = clock.monotonicMs();
  const auth: RbdPool['auth'] =
    key === null && rbd.secretUuid === null ? null : { user: rbd.user, secretUuid: rbd.secretUuid ?? secretUuid };
  const listPools = async (connection: LibvirtConnection): Promise<HostCheck[]> => {
    const found: HostCheck[] = [];
    for (const cephPool of pools) {
      const observed = await observeRbdPool(connection, { cephPool, monitors: rbd.monitors, auth }, clock, signal);
      found.push({ ...judgeReach(hypervisor, observed), durationMs: observed.durationMs });
    }
    return found;
  };
  const use = async (connection: LibvirtConnection): Promise<HostCheck[]> => {
    if (key === null) return await listPools(connection);
    try {
      await connection.ensureCephSecret({ uuid: secretUuid, user: rbd.user, key }, signal);
      return await listPools(connection);
    } finally {
      // With a signal of its own: also a check that was cancelled leaves no key behind. A host that is lost has
      // lost it too.
      await withTimeout(clock, cleanUpMs, (overdue) => connection.removeSecret(secretUuid, overdue)).catch(
        () => undefined,
      );
    }
  };
  try {
    return await withLibvirt({ connectLibvirt, readText }, { libvirt, address }, signal, use);
  } catch (error) {
    return timed(
      clock,
      startedMs,
      pools.map((pool) => failedBy(askedReach(hypervisor, pool), asPassing(error), signal)),
    );
  }
}

const cleanUpMs = 10_000;

/**
 * drover's own secret is there at the next attempt: an attempt that its worker was cut off from, or one of a terminated
 * run, has removed it under this one.
 */
const asPassing = (error: unknown): unknown =>
  error instanceof ApplicationFailure && refusalCode(error) === virErrors.noSecret
    ? droverFailure('HypervisorFailed', `${failureDetail(error)} Another check of the host may have removed it.`)
    : error;

/** As `ceph auth print-key` prints it. */
function readKey(file: string, written: string): Buffer {
  const text = written.trim();
  if (!/^[A-Za-z0-9+/]{20,}={0,2}$/u.test(text))
    throw droverFailure(
      'InvalidConfiguration',
      `hypervisor.ceph.rbd.keyFile: ${file} is no key as \`ceph auth print-key\` prints it`,
    );
  return Buffer.from(text, 'base64');
}

/**
 * Has libvirt list the images of a pool, which shows that the hypervisor reaches Ceph. The pool in libvirt is drover's
 * own and is removed again; a worker that dies leaves it to the next check. Of two checks of one host at a time, one
 * may find removed what it has made; its next attempt makes it again.
 *
 * @throws only the signal's reason when it is aborted
 */
export async function observeRbdPool(
  libvirt: LibvirtConnection,
  { cephPool, monitors, auth }: Pick<RbdPool, 'cephPool' | 'monitors' | 'auth'>,
  clock: Clock,
  signal: AbortSignal,
): Promise<RbdPoolObservation> {
  const startedMs = clock.monotonicMs();
  const name = `${checkPrefix}${cephPool}`;
  const observed = { pool: cephPool, durationMs: 0 };
  const durationMs = (): number => Math.round(clock.monotonicMs() - startedMs);
  try {
    const pool = await libvirt.defineRbdPool({ name, uuid: ownUuid(name), cephPool, monitors, auth }, signal);
    try {
      await libvirt.startPool(pool, signal);
      await libvirt.refreshPool(pool, signal);
      const { length: images } = await libvirt.poolVolumes(pool, signal);
      return { ...observed, durationMs: durationMs(), outcome: 'listed', images };
    } finally {
      // Also when the signal was aborted: nothing is left behind.
      await libvirt.removePool(pool, new AbortController().signal);
    }
  } catch (caught) {
    signal.throwIfAborted();
    const error = auth?.secretUuid === secretUuid ? asPassing(caught) : caught;
    const code = failureCode(error);
    if (code === null) throw error;
    return { ...observed, durationMs: durationMs(), outcome: 'failed', code, message: (error as Error).message };
  }
}
