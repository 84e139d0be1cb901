/** What the run that watches a vCenter is given, gives back and asks for. Started by workers, or by hand with plain JSON. */

export interface VcenterWatchInput {
  /** As in the settings. */
  vcenter: string;
}

/** Of one turn of the activity; the run begins the next. */
export interface VcenterWatchTurn {
  /** Whether it is still wanted, by drover's settings. */
  wanted: boolean;
  /** VMs in the folders of the settings, and how many of them are of VirtualMachines. */
  vms: number;
  owned: number;
  /** Changes that vCenter told of, and how often runs were told. */
  updates: number;
  told: number;
  /** Complete looks; each but the first means that the session or the connection was lost. */
  looks: number;
  /** What runs know of, in sums: the next turn compares, so that nothing is lost in between. Null: not even the first look was complete. */
  memory: string | null;
}

export interface VcenterWatchResult {
  outcome: 'SwitchedOff';
  message: string;
}

/** The answer to the query `progress`. */
export interface VcenterWatchProgress {
  vcenter: string;
  /** Null before the end of the first turn. */
  lastTurn: VcenterWatchTurn | null;
  waitingFor: string;
}

/** Queue `vsphere:<vcenter>`. */
export interface VcenterWatchActivities {
  /** Has vCenter tell of changes of VMs until its time is over, and tells the runs that they concern. @param request.memory of the turn before */
  watchVcenter(request: VcenterWatchInput & Pick<VcenterWatchTurn, 'memory'>): Promise<VcenterWatchTurn>;
}

/** How long one turn is: a run makes a handful of history events in that time. */
export const vcenterWatchTurnMs = 60 * 60_000;
