import { by, informational, type FieldRows } from './field.ts';

/** What becomes of the fields of VsphereAgentPools and VsphereAgents. */

const prepareAgents = 'activities/agents/agent-pool/prepare-agents.ts';
const observePool = 'activities/agents/agent-pool/observe.ts';
const readWorld = 'activities/agents/agent-pool/read-world.ts';
const readNodes = 'activities/agents/agent-pool/read-nodes.ts';
const refreshIso = 'activities/agents/iso/refresh-iso.ts';
const readIso = 'contracts/agent-pool/read-iso.ts';
const nameAgents = 'contracts/agent-pool/name-agents.ts';
const poolVcenters = 'activities/agents/vcenter/pool-vcenters.ts';
const poolPlaces = 'activities/agents/vcenter/pool-places.ts';
const agentVm = 'activities/agents/vcenter/agent-vm.ts';
const agentVmSpec = 'activities/agents/vcenter/agent-vm-spec.ts';
const poolStatus = 'activities/agents/agent-pool/pool-status.ts';
const publishPool = 'activities/agents/agent-pool/publish.ts';
const readSubject = 'activities/agents/vsphere-agent/read-subject.ts';
const publishAgent = 'activities/agents/vsphere-agent/publish.ts';

export const vsphereAgentPoolFields: FieldRows = {
  'spec.agent.approve': by(prepareAgents, 'agent', 'approve'),
  'spec.agent.labels{}': by(prepareAgents, 'agent', 'labels'),
  'spec.agent.role': by(prepareAgents, 'agent', 'role'),
  'spec.cleanupPolicy': by(observePool),
  'spec.controlPlaneNamespace': by(readWorld),
  'spec.hostedClusterRef.name': by(readNodes),
  'spec.infraEnvRef.name': by(refreshIso, 'infraEnvRef', 'name'),
  'spec.iso.checkInterval': by([readIso, refreshIso]),
  'spec.iso.pathPrefix': by([readIso, refreshIso]),
  'spec.iso.retainVersions': by([readIso, refreshIso]),
  'spec.nodePoolRef.name': by(readWorld),
  'spec.template.diskGiB': by(agentVmSpec, 'diskGiB'),
  'spec.template.memoryMiB': by(agentVmSpec, 'memoryMiB'),
  'spec.template.namePrefix': by(nameAgents),
  'spec.template.numCPUs': by(agentVmSpec, 'numCPUs'),
  'spec.vsphere.credentialsSecretRef.name': by(poolVcenters),
  'spec.vsphere.credentialsSecretRef.namespace': by(poolVcenters),
  'spec.vsphere.datacenter': by(poolPlaces, 'datacenter'),
  'spec.vsphere.datastoreCluster': by(poolPlaces, 'datastoreCluster'),
  'spec.vsphere.diskEagerlyScrub': by(agentVmSpec, 'diskEagerlyScrub'),
  'spec.vsphere.firmware': by(agentVmSpec, 'firmware'),
  'spec.vsphere.folder': by(poolPlaces, 'folder'),
  'spec.vsphere.guestID': by(agentVmSpec, 'guestID'),
  'spec.vsphere.isoDatastore': by(refreshIso, 'isoDatastore'),
  'spec.vsphere.network': by(poolPlaces, 'network'),
  'spec.vsphere.networkAdapterType': by(agentVmSpec, 'networkAdapterType'),
  'spec.vsphere.resourcePool': by(poolPlaces, 'resourcePool'),
  'spec.vsphere.scsiType': by(agentVmSpec, 'scsiType'),
  'spec.vsphere.vmTags[]': by(agentVm, 'vmTags'),
  'status.conditions': by(publishPool, 'conditions'),
  'status.agentMachines': by(poolStatus),
  'status.agentMachinesWithoutAgent': by(poolStatus),
  'status.availableAgents': by(poolStatus),
  'status.boundAgents': by(poolStatus),
  'status.desiredReplicas': by(poolStatus),
  'status.iso.checkedAt': by(readIso),
  'status.iso.datastore': by(readIso),
  'status.iso.etag': by(refreshIso, 'etag'),
  'status.iso.forceRefreshToken': by(readIso),
  'status.iso.history[].path': by(refreshIso, 'history', 'path'),
  'status.iso.history[].sha256': by(refreshIso, 'history', 'sha256'),
  'status.iso.history[].sizeBytes': by(refreshIso, 'history', 'sizeBytes'),
  'status.iso.history[].uploadedAt': by(readIso),
  'status.iso.path': by(refreshIso, 'path'),
  'status.iso.sha256': by(refreshIso, 'sha256'),
  'status.iso.sizeBytes': by(refreshIso, 'sizeBytes'),
  'status.iso.uploadedAt': by(readIso),
  'status.iso.url': by(refreshIso, 'url'),
  'status.matchingAgents': by(poolStatus),
  'status.observedGeneration': by(publishPool),
  'status.ownedVMs[].agentRef.apiVersion': by(poolStatus, 'reference', 'apiVersion'),
  'status.ownedVMs[].agentRef.fieldPath': informational('of an ObjectReference; left out'),
  'status.ownedVMs[].agentRef.kind': by(poolStatus, 'reference', 'kind'),
  'status.ownedVMs[].agentRef.name': by(poolStatus, 'reference', 'name'),
  'status.ownedVMs[].agentRef.namespace': by(poolStatus, 'reference', 'namespace'),
  'status.ownedVMs[].agentRef.resourceVersion': informational('of an ObjectReference; left out'),
  'status.ownedVMs[].agentRef.uid': by(poolStatus, 'reference', 'uid'),
  'status.ownedVMs[].biosUUID': by(poolStatus),
  'status.ownedVMs[].lastTransitionTime': by(poolStatus),
  'status.ownedVMs[].macAddress': by(poolStatus),
  'status.ownedVMs[].machineRef.apiVersion': by(poolStatus, 'reference', 'apiVersion'),
  'status.ownedVMs[].machineRef.fieldPath': informational('of an ObjectReference; left out'),
  'status.ownedVMs[].machineRef.kind': by(poolStatus, 'reference', 'kind'),
  'status.ownedVMs[].machineRef.name': by(poolStatus, 'reference', 'name'),
  'status.ownedVMs[].machineRef.namespace': by(poolStatus, 'reference', 'namespace'),
  'status.ownedVMs[].machineRef.resourceVersion': informational('of an ObjectReference; left out'),
  'status.ownedVMs[].machineRef.uid': by(poolStatus, 'reference', 'uid'),
  'status.ownedVMs[].name': by(poolStatus),
  'status.ownedVMs[].phase': by(poolStatus),
  'status.ownedVMs[].reason': by(poolStatus),
  'status.plannedActions[].name': by(publishPool),
  'status.plannedActions[].reason': by(publishPool),
  'status.plannedActions[].type': by(publishPool),
  'status.unreadyAgentMachines': by(poolStatus),
  'status.waitingAgentMachines': by(poolStatus),
};

export const vsphereAgentFields: FieldRows = {
  'spec.poolRef.name': by(readSubject),
  'status.conditions': by(publishAgent, 'conditions'),
  'status.observedGeneration': by(publishAgent),
  'status.vm.agentRef.apiVersion': by(poolStatus, 'reference', 'apiVersion'),
  'status.vm.agentRef.fieldPath': informational('of an ObjectReference; left out'),
  'status.vm.agentRef.kind': by(poolStatus, 'reference', 'kind'),
  'status.vm.agentRef.name': by(poolStatus, 'reference', 'name'),
  'status.vm.agentRef.namespace': by(poolStatus, 'reference', 'namespace'),
  'status.vm.agentRef.resourceVersion': informational('of an ObjectReference; left out'),
  'status.vm.agentRef.uid': by(poolStatus, 'reference', 'uid'),
  'status.vm.biosUUID': by(publishAgent),
  'status.vm.lastTransitionTime': by(poolStatus, 'vm', 'lastTransitionTime'),
  'status.vm.macAddress': by(publishAgent),
  'status.vm.machineRef.apiVersion': by(poolStatus, 'reference', 'apiVersion'),
  'status.vm.machineRef.fieldPath': informational('of an ObjectReference; left out'),
  'status.vm.machineRef.kind': by(poolStatus, 'reference', 'kind'),
  'status.vm.machineRef.name': by(poolStatus, 'reference', 'name'),
  'status.vm.machineRef.namespace': by(poolStatus, 'reference', 'namespace'),
  'status.vm.machineRef.resourceVersion': informational('of an ObjectReference; left out'),
  'status.vm.machineRef.uid': by(poolStatus, 'reference', 'uid'),
  'status.vm.name': by(publishAgent),
  'status.vm.phase': by(poolStatus, 'vm', 'phase'),
  'status.vm.reason': by(poolStatus, 'vm', 'reason'),
};
