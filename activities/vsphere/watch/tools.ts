import type { ObjectChanged } from '../../../contracts/messages.ts';
import type { Clock } from '../../../runtime/clock.ts';
import type { Random } from '../../../runtime/random.ts';
import type { VcenterPlaces } from '../../../runtime/config/vsphere-config.ts';
import type { RecordedVm } from '../../kubernetes/virtual-machine/list-recorded-vms.ts';
import type { ActivityScope } from '../../lib/context.ts';
import type { Vim } from '../client.ts';
import type { Owner } from './known-vms.ts';
import type { RecentObservations } from './recent-observations.ts';

/** Counts what a watch does, for metrics. */
export interface WatchMeter {
  /** A watch begins: of a vCenter that has not answered yet it is known since when. */
  began(vcenter: string): void;
  /** vCenter has answered: so many changes, in so many VMs of objects. */
  answered(vcenter: string, changes: number, owned: number): void;
  inventoried(vcenter: string): void;
  /** A run was signalled, so long after vCenter had reported the change. */
  signalled(vcenter: string, seconds: number): void;
  /** The run had observed it before: no signal was sent. */
  skipped(vcenter: string): void;
}

export interface WatchTools {
  vcenter: string;
  /** Switched off: drover's settings ask for no watch. */
  wanted: boolean;
  places: VcenterPlaces;
  /**
   * A client of its own: a question that is open for seconds must not hold up others, and the collector ends
   * with its session.
   */
  open(): Vim;
  listRecordedVms(signal: AbortSignal): Promise<RecordedVm[]>;
  /** Signals the run of an object, starting it if none is open. */
  signalRun(owner: Owner, signal: ObjectChanged): Promise<void>;
  /** No run is signalled while drover is stopped. */
  stopGate(signal: AbortSignal): Promise<void>;
  recent: RecentObservations;
  meter: WatchMeter;
  /** Aborted when the worker is about to stop: another worker runs the next round. */
  leaving: AbortSignal;
  scope: ActivityScope;
  clock: Clock;
  random: Random;
}
