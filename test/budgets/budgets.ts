import type { OutsideSystem } from '../../runtime/telemetry/outside-calls.ts';

/** What one run may cost at most. */
export interface Budget {
  /** As docs/limits.md says it. */
  title: string;
  events: number;
  activityCalls: number;
  /**
   * Requests to each system, those that are sent again included; systems that are not named get none. Null: they are
   * not counted.
   */
  calls: Partial<Record<OutsideSystem, number>> | null;
}

/**
 * The budgets of each lifecycle: docs/rules.md#history-budgets, and else the worst that was observed, with room for a
 * quarter more. Recorded histories are held to them (`budgets.test.ts`) with their calls; an eviction of 24 servers is,
 * with all columns, in `eviction-history.test.ts`. docs/limits.md shows this table.
 */
export const budgets = {
  eviction: {
    title: '`evictHypervisor`, up to 3 servers',
    events: 160,
    activityCalls: 18,
    calls: { nova: 80, placement: 15, kubernetes: 50, keystone: 2, libvirt: 12 },
  },
  largeEviction: {
    title: '`evictHypervisor`, 24 servers',
    events: 400,
    activityCalls: 25,
    calls: { nova: 80, placement: 15, kubernetes: 60, keystone: 2, libvirt: 12 },
  },
  vainEviction: {
    title: '`evictHypervisor`, of a host without servers that does not come to be empty',
    events: 280,
    activityCalls: 30,
    calls: { nova: 265, placement: 35, kubernetes: 36, keystone: 2 },
  },
  patientEviction: {
    title: '`evictHypervisor`, tried again until a deadline, or beside a migration that Nova does not end',
    events: 775,
    activityCalls: 75,
    calls: { nova: 310, placement: 47, kubernetes: 130, keystone: 2, libvirt: 12 },
  },
  migration: {
    title: '`migrateInstance`, moved at the first attempt',
    events: 20,
    activityCalls: 2,
    calls: { nova: 40, kubernetes: 8, keystone: 2 },
  },
  retriedMigration: {
    title: '`migrateInstance`, moved at the second attempt',
    events: 40,
    activityCalls: 5,
    calls: { nova: 80, kubernetes: 16, keystone: 2 },
  },
  consentedMigration: {
    title: '`migrateInstance`, moved cold or forced, after two attempts to move it live',
    events: 71,
    activityCalls: 9,
    calls: { nova: 80, kubernetes: 18, keystone: 2 },
  },
  unendedMigration: {
    title: '`migrateInstance`, of a migration that Nova does not end',
    events: 65,
    activityCalls: 9,
    calls: { nova: 1980, kubernetes: 67, keystone: 2 },
  },
  heldAllowance: {
    title: '`allocateAllowance`, beside a migration that Nova does not end',
    events: 605,
    activityCalls: 64,
    calls: { nova: 260, keystone: 2 },
  },
  allowance: {
    title: '`allocateAllowance`, while one or two evictions use it',
    events: 150,
    activityCalls: 12,
    calls: { nova: 120, keystone: 2 },
  },
  slots: {
    title: '`allocateAllowance`, the slot of one VM, or of clones',
    events: 60,
    activityCalls: 4,
    calls: { vsphere: 5, kubernetes: 3 },
  },
  onboarding: {
    title: '`reconcileHypervisor`, from the Node into service',
    events: 100,
    activityCalls: 15,
    calls: { nova: 24, placement: 13, kubernetes: 32, keystone: 2 },
  },
  tested: {
    title: '`reconcileHypervisor`, from the Node into service, with its checks',
    events: 136,
    activityCalls: 20,
    calls: { nova: 45, placement: 18, kubernetes: 47, keystone: 2, libvirt: 19, ovs: 4, ceph: 4 },
  },
  testedLate: {
    title: '`reconcileHypervisor`, whose checks wait for Ceph to be well',
    events: 345,
    activityCalls: 45,
    calls: { nova: 99, placement: 32, kubernetes: 98, keystone: 2, libvirt: 24, ovs: 5, ceph: 30 },
  },
  guarded: {
    title: '`reconcileHypervisor`, from the Node into service, with its drain held back',
    events: 150,
    activityCalls: 22,
    calls: { nova: 34, placement: 16, kubernetes: 75, keystone: 2 },
  },
  recalled: {
    title: '`reconcileHypervisor`, a termination that is taken back',
    events: 210,
    activityCalls: 30,
    calls: { nova: 143, placement: 33, kubernetes: 93, keystone: 2 },
  },
  maintenance: {
    title: '`reconcileHypervisor`, into maintenance with one server',
    events: 110,
    activityCalls: 12,
    calls: { nova: 80, placement: 18, kubernetes: 30, keystone: 2 },
  },
  returned: {
    title: '`reconcileHypervisor`, back into service after a failure without a Node',
    events: 130,
    activityCalls: 18,
    calls: { nova: 78, placement: 13, kubernetes: 45, keystone: 2 },
  },
  activation: {
    title: '`reconcileHypervisor`, back into service',
    events: 100,
    activityCalls: 14,
    calls: { nova: 78, placement: 13, kubernetes: 37, keystone: 2 },
  },
  decommissioning: {
    title: '`reconcileHypervisor`, out of Nova',
    events: 190,
    activityCalls: 23,
    calls: { nova: 143, placement: 33, kubernetes: 50, keystone: 2 },
  },
  terminatedWhileEmptied: {
    title: '`reconcileHypervisor`, out of Nova, where the Node terminates during maintenance',
    events: 260,
    activityCalls: 33,
    calls: { nova: 175, placement: 33, kubernetes: 115, keystone: 2 },
  },
  leftovers: {
    title: '`reconcileHypervisor`, out of Nova with allocations that a user gives up',
    events: 295,
    activityCalls: 35,
    calls: { nova: 243, placement: 62, kubernetes: 80, keystone: 2 },
  },
  mended: {
    title: '`reconcileHypervisor`, drift repaired, or a change of its Node or a retry taken up',
    events: 70,
    activityCalls: 9,
    calls: { nova: 58, placement: 13, kubernetes: 22, keystone: 2 },
  },
  hypervisorObservation: {
    title: '`reconcileHypervisor`, of a host that is as it should be, or gone',
    events: 28,
    activityCalls: 3,
    calls: { nova: 6, placement: 5, kubernetes: 8, keystone: 2 },
  },
  failureReported: {
    title: '`reconcileHypervisor`, that reports a failing node to its run',
    events: 35,
    activityCalls: 4,
    calls: { nova: 24, placement: 7, kubernetes: 8, keystone: 2 },
  },
  drift: {
    title: '`findDrift`, all hypervisors of a region compared',
    events: 14,
    activityCalls: 1,
    calls: { nova: 3, placement: 3, kubernetes: 2, keystone: 2 },
  },
  vmObservation: {
    title: '`reconcileVirtualMachine`, nothing to do',
    events: 12,
    activityCalls: 1,
    calls: { vsphere: 14, kubernetes: 10 },
  },
  vmUpdate: {
    title: '`reconcileVirtualMachine`, another class, or powered on or off',
    events: 31,
    activityCalls: 3,
    calls: { vsphere: 24, kubernetes: 16 },
  },
  vmLargeUpdate: {
    title: '`reconcileVirtualMachine`, powered off and another class',
    events: 36,
    activityCalls: 4,
    calls: { vsphere: 30, kubernetes: 18 },
  },
  vmRestarted: {
    title: '`reconcileVirtualMachine`, restarted, or a change without effect taken back',
    events: 55,
    activityCalls: 6,
    calls: { vsphere: 38, kubernetes: 22 },
  },
  vmPolicies: {
    title: '`reconcileVirtualMachine`, made with policies that are evaluated, which change',
    events: 138,
    activityCalls: 16,
    calls: { vsphere: 57, kubernetes: 65 },
  },
  vmUnchanging: {
    title: '`reconcileVirtualMachine`, changed without effect for a minute',
    events: 107,
    activityCalls: 13,
    calls: { vsphere: 65, kubernetes: 32 },
  },
  vmAsked: {
    title: '`reconcileVirtualMachine`, powered off, its guest asked more than once',
    events: 140,
    activityCalls: 17,
    calls: { vsphere: 76, kubernetes: 52 },
  },
  vmOutage: {
    title: '`reconcileVirtualMachine`, deleted while vCenter is away for 20 min',
    events: 170,
    activityCalls: 21,
    calls: { vsphere: 40, kubernetes: 210 },
  },
  vmRefused: {
    title: '`reconcileVirtualMachine`, powered off against a guest that refuses, or after another user’s task failed',
    events: 55,
    activityCalls: 6,
    calls: { vsphere: 60, kubernetes: 22 },
  },
  vmCreate: {
    title: '`reconcileVirtualMachine`, a VM made and powered on',
    events: 58,
    activityCalls: 8,
    calls: { vsphere: 75, kubernetes: 26 },
  },
  vmVolumes: {
    title: '`reconcileVirtualMachine`, volumes of claims attached, detached, or waited for',
    events: 120,
    activityCalls: 14,
    calls: { vsphere: 80, kubernetes: 76 },
  },
  vmVolumesAgain: {
    title: '`reconcileVirtualMachine`, volumes of claims attached again, as the VM was made anew',
    events: 155,
    activityCalls: 18,
    calls: { vsphere: 80, kubernetes: 86 },
  },
  vmInstanceStorage: {
    title: '`reconcileVirtualMachine`, a VM with instance storage made, also where its first host has no room',
    events: 190,
    activityCalls: 26,
    calls: { vsphere: 120, kubernetes: 200 },
  },
  vmCustomized: {
    title: '`reconcileVirtualMachine`, a VM made, its guest set up, and powered on',
    events: 66,
    activityCalls: 9,
    calls: { vsphere: 82, kubernetes: 30 },
  },
  vmSetUp: {
    title: '`reconcileVirtualMachine`, its guest set up anew',
    events: 66,
    activityCalls: 8,
    calls: { vsphere: 40, kubernetes: 26 },
  },
  vmCopied: {
    title: '`reconcileVirtualMachine`, a VM made of cached files and powered on, two disks',
    events: 118,
    activityCalls: 16,
    calls: { vsphere: 72, kubernetes: 26 },
  },
  vmAwaited: {
    title: '`reconcileVirtualMachine`, made, or made again, after what it waited for has come',
    events: 108,
    activityCalls: 13,
    calls: { vsphere: 90, kubernetes: 56 },
  },
  vmAdopted: {
    title: '`reconcileVirtualMachine`, a VM taken over and brought to its spec',
    events: 75,
    activityCalls: 10,
    calls: { vsphere: 45, kubernetes: 20 },
  },
  vmDelete: {
    title: '`reconcileVirtualMachine`, deleted',
    events: 66,
    activityCalls: 8,
    calls: { vsphere: 40, kubernetes: 20 },
  },
  vmPromoted: {
    title: '`reconcileVirtualMachine`, the same of linked disks, which are promoted',
    events: 118,
    activityCalls: 16,
    calls: { vsphere: 80, kubernetes: 36 },
  },
  vmUnwanted: {
    title: '`reconcileVirtualMachine`, deleted while it was made',
    events: 160,
    activityCalls: 22,
    calls: { vsphere: 120, kubernetes: 56 },
  },
  policyMade: {
    title: '`reconcileSetResourcePolicy`, folder, pool and module made',
    events: 92,
    activityCalls: 12,
    calls: { vsphere: 30, kubernetes: 13 },
  },
  policyRemoved: {
    title: '`reconcileSetResourcePolicy`, the same removed in the run that made them',
    events: 160,
    activityCalls: 24,
    calls: { vsphere: 58, kubernetes: 28 },
  },
  nodeFailure: { title: '`handleNodeFailure`, three servers evacuated', events: 845, activityCalls: 94, calls: null },
  guestWatch: {
    title: '`watchGuests`, three rounds of an hour and one that failed',
    events: 45,
    activityCalls: 5,
    calls: null,
  },
  vcenterWatch: {
    title: '`watchVcenter`, three rounds of an hour and one that failed',
    events: 45,
    activityCalls: 5,
    calls: null,
  },
  apiServerSafety: {
    title: '`watchApiServers`, an hour with one freeze, and a round that failed',
    events: 60,
    activityCalls: 7,
    calls: null,
  },
  overshootSafety: {
    title: '`watchOvershoot`, three rounds of an hour and one that failed',
    events: 45,
    activityCalls: 5,
    calls: null,
  },
  sweepRequest: {
    title: '`requestSweep`, a sweep begun',
    events: 13,
    activityCalls: 0,
    calls: {},
  },
  sweepObservation: {
    title: '`sweepOrphans`, nothing to delete, two classes',
    events: 15,
    activityCalls: 1,
    calls: { nova: 2, keystone: 2, vsphere: 4, kubernetes: 8 },
  },
  sweepNodes: {
    title: '`sweepOrphans`, the same, and the Nodes of another cluster are looked at',
    events: 20,
    activityCalls: 2,
    calls: { nova: 2, keystone: 2, vsphere: 4, kubernetes: 12 },
  },
  sweepRetried: {
    title: '`sweepOrphans`, nothing to delete, observed once more',
    events: 29,
    activityCalls: 3,
    calls: { nova: 4, keystone: 2, vsphere: 8, kubernetes: 15 },
  },
  sweepDeletion: {
    title: '`sweepOrphans`, two VMs deleted; each further one costs 6 events',
    events: 44,
    activityCalls: 5,
    calls: { nova: 7, keystone: 2, vsphere: 16, kubernetes: 32 },
  },
  sweepApproval: {
    title: '`sweepOrphans`, five VMs deleted when a user has approved of it after four periods',
    events: 150,
    activityCalls: 18,
    calls: { nova: 10, keystone: 2, vsphere: 60, kubernetes: 92 },
  },
  agentMade: {
    title: '`reconcileAgent`, a VM made and powered on',
    events: 37,
    activityCalls: 4,
    calls: { kubernetes: 14, vsphere: 26 },
  },
  agentEjected: {
    title: '`reconcileAgent`, the ISO taken out of the drive of an installed one',
    events: 25,
    activityCalls: 2,
    calls: { kubernetes: 8, vsphere: 9 },
  },
  agentDestroyed: {
    title: '`reconcileAgent`, a VM destroyed when its Machine is gone, with a wait for a slot, or for the Machine',
    events: 66,
    activityCalls: 8,
    calls: { kubernetes: 22, vsphere: 20 },
  },
  poolIdle: {
    title: '`reconcileAgentPool`, half an hour with an ISO that is checked three times, and another one',
    events: 135,
    activityCalls: 17,
    calls: null,
  },
  poolScaled: {
    title: '`reconcileAgentPool`, from nothing to two and back',
    events: 500,
    activityCalls: 60,
    calls: null,
  },
  volumeObserved: {
    title: '`cloneDataVolume`, nothing to do, or nothing that can be done yet',
    events: 24,
    activityCalls: 3,
    calls: { kubernetes: 16 },
  },
  volumeCloned: {
    title: '`cloneDataVolume`, a clone of its source’s size in one namespace, queued or not',
    events: 40,
    activityCalls: 5,
    calls: { kubernetes: 45 },
  },
  volumeAwaited: {
    title: '`cloneDataVolume`, the same with an expansion, or a wait for the source or a consumer',
    events: 75,
    activityCalls: 10,
    calls: { kubernetes: 88 },
  },
  volumeTransferred: {
    title: '`cloneDataVolume`, a clone from another namespace',
    events: 63,
    activityCalls: 9,
    calls: { kubernetes: 140 },
  },
  volumeCopied: {
    title: '`cloneDataVolume`, a copy by a Job',
    events: 75,
    activityCalls: 10,
    calls: { kubernetes: 104 },
  },
  volumeRemoved: {
    title: '`cloneDataVolume`, a clone that is deleted or given up',
    events: 85,
    activityCalls: 9,
    calls: { kubernetes: 110 },
  },
  storageProfile: {
    title: '`reconcileStorageProfile`, a StorageProfile made',
    events: 44,
    activityCalls: 5,
    calls: { kubernetes: 13 },
  },
  librarySync: { title: '`syncContentLibrary`, all images of a library', events: 29, activityCalls: 3, calls: null },
} as const satisfies Record<string, Budget>;

export type BudgetName = keyof typeof budgets;
