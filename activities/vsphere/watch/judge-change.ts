import type { WatchedVm } from './watched.ts';

/** What is said of each field; what people read in the history beside the signal. */
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

/** What has changed of a VM, in words; empty: nothing that anybody must be told of. Null: it was, or is, not there. Pure. */
export function judgeChange(before: WatchedVm | null, after: WatchedVm | null): string[] {
  if (before === null) return after === null ? [] : ['appeared'];
  if (after === null) return ['gone'];
  return (Object.keys(words) as (keyof WatchedVm)[])
    .filter((field) => before[field] !== after[field])
    .map((field) => words[field](after[field]));
}
