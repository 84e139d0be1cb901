import { by, informational, type FieldRows } from './field.ts';

/**
 * What becomes of the fields of machine-controller-manager’s objects: drover keeps them safe, and does nothing else
 * with them.
 */

const openClass = 'activities/machines/sweep/open-class.ts';
const readMachines = 'activities/machines/sweep/read-machines.ts';
const resetMachines = 'activities/kubernetes/machines/reset-unknown-machines.ts';
const planOvershoot = 'activities/kubernetes/machines/plan-overshoot.ts';
const executeFreeze = 'activities/kubernetes/machines/execute-freeze.ts';
const mcm = informational('of machine-controller-manager');

export const machineClassFields: FieldRows = {
  'credentialsSecretRef.name': by(openClass),
  'credentialsSecretRef.namespace': by(openClass),
  'nodeTemplate.architecture': mcm,
  'nodeTemplate.capacity{}': mcm,
  'nodeTemplate.instanceType': mcm,
  'nodeTemplate.region': by(openClass),
  'nodeTemplate.virtualCapacity{}': mcm,
  'nodeTemplate.zone': mcm,
  provider: by(openClass),
  providerSpec: by(openClass),
  'secretRef.name': by(openClass),
  'secretRef.namespace': by(openClass),
};

export const machineFields: FieldRows = {
  'spec.**': mcm,
  'spec.providerID': by(readMachines),
  'status.addresses[].address': mcm,
  'status.addresses[].type': mcm,
  'status.conditions': mcm,
  'status.currentStatus.lastUpdateTime': by(resetMachines),
  'status.currentStatus.phase': by(resetMachines),
  'status.currentStatus.preserveExpiryTime': mcm,
  'status.currentStatus.timeoutActive': by(resetMachines),
  'status.lastKnownState': mcm,
  'status.lastOperation.description': by(resetMachines),
  'status.lastOperation.errorCode': by(resetMachines),
  'status.lastOperation.lastUpdateTime': by(resetMachines),
  'status.lastOperation.state': by(resetMachines),
  'status.lastOperation.type': by(resetMachines),
};

export const machineSetFields: FieldRows = {
  'spec.**': mcm,
  'spec.replicas': by([planOvershoot]),
  'spec.template.metadata': by(planOvershoot, 'template', 'metadata'),
  'status.**': mcm,
  'status.machineSetCondition[].lastTransitionTime': by(executeFreeze),
  'status.machineSetCondition[].message': by(executeFreeze),
  'status.machineSetCondition[].reason': by(executeFreeze),
  'status.machineSetCondition[].status': by(executeFreeze),
  'status.machineSetCondition[].type': by(executeFreeze),
};

export const machineDeploymentFields: FieldRows = {
  'spec.**': mcm,
  'spec.replicas': by([planOvershoot]),
  'spec.strategy.inPlaceUpdate.maxSurge': by(planOvershoot),
  'spec.strategy.rollingUpdate.maxSurge': by(planOvershoot),
  'status.**': mcm,
};
