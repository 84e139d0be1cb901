/**
 * Activities that no cell of the matrix calls, by name: what has their faults instead, or why they need none. A row goes
 * when a scenario or a story calls its activity (activities.test.ts).
 */
export type WithoutCells = Readonly<
  Record<
    string,
    | {
        /** A test that has it fail, has its answer lost, or calls it twice. */
        testedBy: string;
      }
    | { needsNone: string }
    /** Nothing has them yet. */
    | { missing: string }
  >
>;

const ofEvictions: WithoutCells = {
  awaitStopLifted: { needsNone: 'it reads, and the run looks again when it ends' },
  awaitNodeReturned: { testedBy: 'test/contracts/eviction-objects.ts' },
};

const ofHypervisors: WithoutCells = {
  ensureCertificate: { testedBy: 'activities/kubernetes/hypervisor/certificate.test.ts' },
  ensureSmokeServerGone: { testedBy: 'activities/nova/smoke-server.test.ts' },
};

const ofNodeFailures: WithoutCells = {
  adviseEviction: { testedBy: 'activities/kubernetes/node-failure/advise-eviction.test.ts' },
  withdrawAdvice: { testedBy: 'activities/kubernetes/node-failure/advise-eviction.test.ts' },
  giveUpFencing: { testedBy: 'activities/kubernetes/node-failure/claim-fencing.test.ts' },
  observePower: { testedBy: 'activities/redfish/activities.test.ts' },
};

const ofVirtualMachines: WithoutCells = {
  attachClusterModule: { testedBy: 'test/contracts/vcenter-rest.ts' },
  ensureImageCache: { testedBy: 'test/contracts/virtual-machine-objects.ts' },
  grantSlots: { missing: 'a grant whose answer is lost' },
  observeVirtualMachineInVcenter: { needsNone: 'no run calls it: observeVirtualMachine does, in its process' },
  openLibrarySync: { needsNone: 'it reads settings' },
  readContentLibrary: { needsNone: 'it reads' },
  submitBackup: { testedBy: 'test/contracts/vsphere-guests.ts' },
  submitHardwareUpgrade: { testedBy: 'test/contracts/vsphere-changes.ts' },
  submitRelease: { testedBy: 'test/contracts/vsphere-changes.ts' },
  syncLibraryImages: { missing: 'images that are half written' },
};

export const withoutCells: WithoutCells = {
  ...ofEvictions,
  ...ofHypervisors,
  ...ofNodeFailures,
  ...ofVirtualMachines,
};
