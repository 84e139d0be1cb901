/** What the run that makes images of a content library is asked, and what it asks. */

/** Plain JSON, of a person or a Schedule. */
export interface ContentLibraryInput {
  /** Name or id, in the vCenter that has the VMs. */
  library: string;
  /** Of the VirtualMachineImages; left out: they are ClusterVirtualMachineImages. */
  namespace?: string;
}

/** What a VM can be made of, or installed from. Others of the library are left out. */
export interface LibraryItem {
  id: string;
  name: string;
  type: 'OVF' | 'ISO';
  /** Changes with its files. */
  version: string;
  /** Why no VM can be made of it; null: one can. */
  problem: { reason: 'ProviderNotReady' | 'ProviderSecurityNotCompliant'; message: string } | null;
}

export interface LibraryContent {
  id: string;
  name: string;
  items: LibraryItem[];
}

/** Names of images; in the mode `observe` those that would be. */
export interface LibraryImages {
  made: string[];
  changed: string[];
  removed: string[];
  /** Objects of another owner that have the name of one to create: left as they are. */
  foreign: string[];
  unchanged: number;
}

export type LibrarySync =
  /** The kind VirtualMachine is switched off. */
  { next: 'nothing'; message: string } | { next: 'run'; vcenter: string; library: string; namespace: string | null };

/** Queue `kubernetes`. */
export interface LibraryImageActivities {
  /** @throws InvalidInput every problem by name */
  openLibrarySync(input: ContentLibraryInput): Promise<LibrarySync>;
  /**
   * Makes, changes and removes the images of a library, as far as they are drover's. Safe to repeat, and to run twice
   * at once.
   */
  syncLibraryImages(request: { namespace: string | null; content: LibraryContent }): Promise<LibraryImages>;
}

/** Queue `vsphere:<vcenter>`. */
export interface ContentLibraryActivities {
  /** @throws VsphereObjectNotFound; InvalidInput where several have that name */
  readContentLibrary(request: { library: string }): Promise<LibraryContent>;
}
