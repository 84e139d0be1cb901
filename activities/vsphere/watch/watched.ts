import { createHash } from 'node:crypto';
import { z } from 'zod';

import { vim } from '../wire/kinds.ts';

/** What the status shows of a VM, or decisions are made on, and what can change without drover. */
export const watchedPaths = [
  'name',
  'parent',
  'resourcePool',
  'runtime.powerState',
  'runtime.host',
  'runtime.connectionState',
  'guest.toolsRunningStatus',
  'guest.ipAddress',
  'guest.hostName',
  'guest.customizationInfo',
  'guestHeartbeatStatus',
  'rootSnapshot',
  'snapshot.currentSnapshot',
  'config.changeVersion',
] as const;

/** The state of a VM, as far as it is watched. Ids of what it is in. */
export interface WatchedVm {
  name: string;
  folder: string;
  resourcePool: string;
  powerState: string;
  host: string;
  connection: string;
  tools: string;
  address: string;
  hostName: string;
  customization: string;
  heartbeat: string;
  snapshots: string;
  config: string;
}

const text = z.string().catch('');
const reference = z.object({ value: z.string() });
const id = reference.transform(({ value }) => value).catch('');

const watched = z.object({
  name: text,
  parent: id,
  resourcePool: id,
  'runtime.powerState': text,
  'runtime.host': id,
  'runtime.connectionState': text,
  'guest.toolsRunningStatus': text,
  'guest.ipAddress': text,
  'guest.hostName': text,
  'guest.customizationInfo': vim('GuestInfoCustomizationInfo').optional().catch(undefined),
  guestHeartbeatStatus: text,
  rootSnapshot: z.array(reference).catch([]),
  'snapshot.currentSnapshot': id,
  snapshot: vim('VirtualMachineSnapshotInfo').optional().catch(undefined),
  'config.changeVersion': text,
});

/** Pure. @param properties by path, of {@link watchedPaths} or all that is read of a VM; what is not set is missing */
export function toWatched(properties: Readonly<Record<string, unknown>>): WatchedVm {
  const parsed = watched.parse(properties);
  const current = parsed['snapshot.currentSnapshot'] || (parsed.snapshot?.currentSnapshot?.value ?? '');
  const roots = parsed.rootSnapshot.map(({ value }) => value).toSorted();
  return {
    name: parsed.name,
    folder: parsed.parent,
    resourcePool: parsed.resourcePool,
    powerState: parsed['runtime.powerState'],
    host: parsed['runtime.host'],
    connection: parsed['runtime.connectionState'],
    tools: parsed['guest.toolsRunningStatus'],
    address: parsed['guest.ipAddress'],
    hostName: parsed['guest.hostName'],
    customization: parsed['guest.customizationInfo']?.customizationStatus ?? '',
    heartbeat: parsed.guestHeartbeatStatus,
    // Without any there is no current one, whatever was reported of it before.
    snapshots: roots.length === 0 ? '' : [current, ...roots].join(' '),
    config: parsed['config.changeVersion'],
  };
}

const digits = 16;

/** The digest of a VM's state: the same for the observation of a run and for the watch, on every worker. */
export const digestOf = (state: WatchedVm): string =>
  createHash('sha256')
    .update(JSON.stringify(Object.values(state)))
    .digest('hex')
    .slice(0, digits);

/** The cause for each field, as users read it in the history beside the signal. */
const words: { readonly [Field in keyof WatchedVm]: (now: string) => string } = {
  powerState: (now) =>
    ({ poweredOn: 'powered on', poweredOff: 'powered off', suspended: 'suspended' })[now] ?? `power state ${now}`,
  connection: (now) => now || 'no connection state',
  host: () => 'on another host',
  folder: () => 'in another folder',
  resourcePool: () => 'in another resource pool',
  name: () => 'renamed',
  config: () => 'reconfigured',
  snapshots: () => 'snapshots',
  tools: (now) => (now === 'guestToolsRunning' ? 'Tools run' : 'Tools do not run'),
  address: (now) => (now === '' ? 'no address' : 'an address'),
  hostName: () => 'the guest’s name',
  customization: () => 'the guest’s customization',
  heartbeat: (now) => `heartbeat ${now || 'gone'}`,
};

/**
 * The causes of a signal: what has changed of a VM; empty: nothing that its run must know. Null: it was, or is, not
 * there. Pure.
 */
export function judgeChange(before: WatchedVm | null, after: WatchedVm | null): string[] {
  if (before === null) return after === null ? [] : ['appeared'];
  if (after === null) return ['gone'];
  return (Object.keys(words) as (keyof WatchedVm)[])
    .filter((field) => before[field] !== after[field])
    .map((field) => words[field](after[field]));
}
