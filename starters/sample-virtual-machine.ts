import type { Condition } from '../contracts/conditions.ts';
import type { VirtualMachineState } from '../contracts/virtual-machine-conditions.ts';
import type { VirtualMachineProgress } from '../contracts/virtual-machine-progress.ts';
import { ago } from './render/sample-progress.ts';
import type { VirtualMachineObject } from './virtual-machine-facts.ts';
import type { VirtualMachineRun } from './virtual-machine-run.ts';

/** Facts that the tests of commands for virtual machines share. */

export const machineLifecycle = (
  reason: VirtualMachineState,
  status: Condition['status'] = 'True',
  message = `${reason} it is`,
  seconds = 120,
): Condition => ({
  type: 'Lifecycle',
  status,
  reason,
  message,
  lastTransitionTime: ago(seconds),
  observedGeneration: 3,
});

export const unready = (type: string, reason: string, message: string): Condition => ({
  type,
  status: 'False',
  reason,
  message,
  lastTransitionTime: ago(60),
});

export const sampleMachine = (facts: Partial<VirtualMachineObject> = {}): VirtualMachineObject => ({
  namespace: 'team',
  name: 'web',
  uid: 'uid-web',
  generation: 3,
  resourceVersion: '77',
  createdAt: ago(90_000),
  deleting: false,
  paused: false,
  pausedBy: null,
  observed: false,
  powerOnChecks: [],
  deleteChecks: [],
  conditions: [machineLifecycle('Settled', 'True', 'team/web is as its spec wants it')],
  wantedPowerState: 'PoweredOn',
  powerState: 'PoweredOn',
  vmId: 'vm-61',
  instanceUuid: 'uuid-web',
  node: 'esx-4',
  zone: 'zone-a',
  ip: '192.0.2.10',
  guest: 'Other',
  hardwareVersion: 21,
  class: 'small',
  image: 'vmi-1',
  storageClass: 'fast',
  group: null,
  ...facts,
});

export const sampleMachineProgress = (facts: Partial<VirtualMachineProgress> = {}): VirtualMachineProgress => ({
  virtualMachine: 'team/web',
  state: 'Creating',
  message: 'Waiting for x',
  waitingFor: null,
  nextWakeUp: null,
  vmId: null,
  powerState: null,
  host: null,
  failures: [],
  ...facts,
});

export const sampleMachineRun = (facts: Partial<VirtualMachineRun> = {}): VirtualMachineRun => ({
  workflowId: 'virtualmachine/team/web',
  runId: 'r-1',
  status: 'Running',
  startedAt: ago(300),
  endedAt: null,
  progress: sampleMachineProgress(),
  ending: null,
  steps: [],
  webUi: null,
  ...facts,
});
