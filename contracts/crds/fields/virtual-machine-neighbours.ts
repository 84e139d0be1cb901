import { by, informational, type FieldRows } from './field.ts';

/** What becomes of the fields of classes, images and resource policies. */

const readClass = 'contracts/virtual-machine/read-prerequisites.ts';
const classDevices = 'contracts/virtual-machine/class-devices.ts';
const diffClassDevices = 'workflows/virtual-machine/plan/class-devices.ts';
const classConfig = 'activities/vsphere/specs/class-config.ts';
const cachedDisks = 'activities/vsphere/specs/cached-disks.ts';
const wantConfig = 'workflows/virtual-machine/plan/want-config.ts';
const create = 'workflows/virtual-machine/plan/create.ts';
const instanceStorage = 'workflows/virtual-machine/plan/volumes/instance-storage.ts';
const prerequisites = 'workflows/virtual-machine/plan/prerequisites.ts';
const libraryImages = 'activities/kubernetes/content-library/plan-library-images.ts';
const readPolicy = 'contracts/resource-policy/read-resource-policy.ts';
const policyActivities = 'activities/kubernetes/resource-policy/activities.ts';
const planPolicy = 'workflows/resource-policy/plan.ts';

export const virtualMachineClassFields: FieldRows = {
  'spec.configSpec': by([classDevices, classConfig], 'configSpec'),
  'spec.controllerName': informational('which controller the class is for: upstream’s'),
  'spec.description': informational('for users'),
  'spec.hardware.cpus': by([readClass, wantConfig]),
  'spec.hardware.devices.dynamicDirectPathIODevices[].customLabel': by([classDevices, diffClassDevices]),
  'spec.hardware.devices.dynamicDirectPathIODevices[].deviceID': by([classDevices, diffClassDevices]),
  'spec.hardware.devices.dynamicDirectPathIODevices[].vendorID': by([classDevices, diffClassDevices]),
  'spec.hardware.devices.vgpuDevices[].profileName': by([classDevices, diffClassDevices]),
  'spec.hardware.instanceStorage.storageClass': by([readClass, instanceStorage]),
  'spec.hardware.instanceStorage.volumes[].size': by([readClass, instanceStorage]),
  'spec.hardware.memory': by([readClass, wantConfig]),
  'spec.policies.resources.limits.cpu': by([readClass, wantConfig]),
  'spec.policies.resources.limits.memory': by([readClass, wantConfig]),
  'spec.policies.resources.requests.cpu': by([readClass, wantConfig]),
  'spec.policies.resources.requests.memory': by([readClass, wantConfig]),
  'spec.reservedProfileID': by(readClass),
  'spec.reservedSlots': informational('how much a platform reserves for the class'),
  status: informational('has no fields'),
};

export const virtualMachineImageFields: FieldRows = {
  'spec.providerRef.apiVersion': informational('of the controller that made the image'),
  'spec.providerRef.kind': by([readClass, prerequisites]),
  'spec.providerRef.name': informational('of the controller that made the image'),
  'status.capabilities[]': informational('for users'),
  'status.conditions': by([readClass, libraryImages, prerequisites], 'conditions', 'Ready'),
  'status.disks[].controllerBusNumber': by([readClass, cachedDisks]),
  'status.disks[].controllerType': by([readClass, cachedDisks]),
  'status.disks[].limit': by([readClass, cachedDisks]),
  'status.disks[].name': informational('for users'),
  'status.disks[].requested': informational('for users'),
  'status.disks[].unitNumber': by([readClass, cachedDisks]),
  'status.firmware': by([readClass, cachedDisks]),
  'status.hardwareVersion': by([readClass, cachedDisks]),
  'status.name': by(libraryImages, 'statusWith', 'name'),
  'status.osInfo.id': informational('for users'),
  'status.osInfo.type': by([readClass, cachedDisks]),
  'status.osInfo.version': informational('for users'),
  'status.ovfProperties[].default': informational('for users'),
  'status.ovfProperties[].key': informational('for users'),
  'status.ovfProperties[].type': informational('for users'),
  'status.productInfo.fullVersion': informational('for users'),
  'status.productInfo.product': informational('for users'),
  'status.productInfo.vendor': informational('for users'),
  'status.productInfo.version': informational('for users'),
  'status.providerContentVersion': by([readClass, libraryImages, create]),
  'status.providerItemID': by([readClass, libraryImages, create]),
  'status.type': by([readClass, libraryImages, create]),
  'status.vmwareSystemProperties[].key': informational('for users'),
  'status.vmwareSystemProperties[].value': informational('for users'),
};

export const resourcePolicyFields: FieldRows = {
  'spec.clusterModuleGroups[]': by([readPolicy, planPolicy]),
  'spec.folder': by([readPolicy, planPolicy]),
  'spec.resourcePool.limits.cpu': by([readPolicy, planPolicy]),
  'spec.resourcePool.limits.memory': by([readPolicy, planPolicy]),
  'spec.resourcePool.name': by([readPolicy, planPolicy]),
  'spec.resourcePool.reservations.cpu': by([readPolicy, planPolicy]),
  'spec.resourcePool.reservations.memory': by([readPolicy, planPolicy]),
  'status.clustermodules[].clusterMoID': by([readPolicy, policyActivities]),
  'status.clustermodules[].groupName': by([readPolicy, policyActivities]),
  'status.clustermodules[].moduleUUID': by([readPolicy, policyActivities]),
  'status.resourcePools[].childResourcePoolMoID': by([readPolicy, policyActivities]),
  'status.resourcePools[].clusterMoID': by([readPolicy, policyActivities]),
};
