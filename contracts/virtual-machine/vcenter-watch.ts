/**
 * Input, results and activities of the system workflow that watches a vCenter. Started by workers, or by hand with
 * plain JSON.
 */

export interface VcenterWatchInput {
  /** As in the settings. */
  vcenter: string;
}

/** What came of one round. */
export interface VcenterWatchRound {
  /** Whether it is still wanted, by drover's settings. */
  wanted: boolean;
  /** VMs in the folders of the settings, and how many of them are of VirtualMachines. */
  vms: number;
  owned: number;
  /** Changes that vCenter reported, and how often runs were signalled. */
  updates: number;
  signalled: number;
  /** How often all VMs were read; each time but the first means that the session or the connection was lost. */
  inventories: number;
  /**
   * What runs know of, in sums: the next round compares, so that nothing is lost in between. Null: not all VMs were
   * read even once.
   */
  memory: string | null;
}

export interface VcenterWatchResult {
  outcome: 'SwitchedOff';
  message: string;
}

/** The answer to the query `progress`. */
export interface VcenterWatchProgress {
  vcenter: string;
  /** Null before the end of the first round. */
  lastRound: VcenterWatchRound | null;
  waitingFor: string;
}

/** Queue `vsphere:<vcenter>`. */
export interface VcenterWatchActivities {
  /**
   * Waits for changes of VMs until its time is over, and signals the runs that they concern.
   * @param request.memory of the round before
   */
  watchVcenter(request: VcenterWatchInput & Pick<VcenterWatchRound, 'memory'>): Promise<VcenterWatchRound>;
}

/** How long one round is: a run makes a handful of history events in that time. */
export const vcenterWatchRoundMs = 60 * 60_000;
