/** One row of the error table. */
interface ErrorRow {
  /** Whether Temporal tries the activity again. */
  retryable: boolean;
  /**
   * Whether a run that meets it tries again after its back-off, though the activity is not tried again: it may pass, or
   * be put right elsewhere.
   */
  passes?: true;
  /** The reason of the condition that reports it. */
  reason: string;
  /** The sentence that says what to do. */
  advice: string;
}

/**
 * Every failure drover can report, one row each. Adapters map each fault of their system to a row; the code is the
 * failure's type in Temporal, so it is a wire name.
 */
export const errors = {
  // Input
  InvalidInput: {
    retryable: false,
    reason: 'InvalidInput',
    advice: 'Correct the input and start again. Nothing was started.',
  },
  InvalidObject: {
    retryable: false,
    reason: 'InvalidObject',
    advice: 'Correct the object; drover reconciles it again when it changes.',
  },
  InvalidConfiguration: {
    retryable: false,
    reason: 'InvalidConfiguration',
    advice: 'Correct the settings and start the process again.',
  },
  ClusterClaimed: {
    retryable: false,
    reason: 'ClusterClaimed',
    advice:
      'Each cluster that shares a Temporal namespace needs a name of its own: `cluster` in drover’s settings. Where the other is gone for good: stop its workers and bridges, delete that Schedule (`temporal schedule delete --schedule-id …`), and start this process again.',
  },
  ModeOff: {
    retryable: false,
    reason: 'ModeOff',
    advice: 'This kind is switched off. Set its mode to observe or act in drover’s settings.',
  },
  CauseNotSupported: {
    retryable: false,
    reason: 'CauseNotSupported',
    advice:
      'A dead host cannot be emptied by live migration. Fence it and evacuate, or choose another cause if nova-compute is up.',
  },
  Stopped: {
    retryable: false,
    passes: true,
    reason: 'Stopped',
    advice: 'A user ran `drover stop`. `drover stop --lift` lets drover go on.',
  },

  // Hosts and instances
  HostNotFound: {
    retryable: false,
    reason: 'HostNotFound',
    advice: 'Nova knows no such compute host. Check spec.hypervisor.',
  },
  HostAmbiguous: {
    retryable: false,
    reason: 'HostAmbiguous',
    advice: 'More than one compute host has that short name. Give the full name.',
  },
  HostDown: {
    retryable: false,
    reason: 'HostDown',
    advice: 'nova-compute on the host is down, so nothing can be moved live. Start it, or fence the host and evacuate.',
  },
  HostUp: {
    retryable: false,
    reason: 'HostUp',
    advice: 'nova-compute on the host still answers. Stop it, and wait until Nova shows it as down.',
  },
  HostEnabled: {
    retryable: false,
    reason: 'HostEnabled',
    advice: 'The compute service is enabled, so servers may still come. Disable it first.',
  },
  HostNotEmpty: {
    retryable: false,
    reason: 'HostNotEmpty',
    advice: 'Something of servers is left on the host. Empty it first.',
  },
  HostNotFenced: {
    retryable: false,
    reason: 'HostNotFenced',
    advice:
      'Nothing proves that the host is off, and its servers must not run twice. Fence it, or confirm that it is off.',
  },
  EvacuatedGuestsRemain: {
    retryable: false,
    reason: 'EvacuatedGuestsRemain',
    advice:
      'Start nova-compute on the host while it is forced down: it drops the guests that were evacuated. Then it can be brought back.',
  },
  AggregateNotFound: {
    retryable: false,
    reason: 'AggregateNotFound',
    advice: 'Create the aggregates in Nova, or correct spec.aggregates and the zone label.',
  },
  AggregateRefused: {
    retryable: false,
    reason: 'AggregateRefused',
    advice: 'Nova refused to change the aggregate; its words say why. A host is in one availability zone only.',
  },
  ProviderConflict: {
    retryable: true,
    reason: 'ProviderConflict',
    advice: 'Another client keeps changing the resource provider in Placement. drover reads it again.',
  },
  ConsumerConflict: {
    retryable: true,
    reason: 'ConsumerConflict',
    advice: 'Another client is moving the server at the same time. drover reads it again.',
  },
  ProviderInUse: {
    retryable: false,
    reason: 'ProviderInUse',
    advice:
      'drover deletes a resource provider with allocations only by consent. Find out whose they are (`openstack resource provider allocation show`), and clear them or consent.',
  },
  SmokeServerRefused: {
    retryable: false,
    reason: 'SmokeServerRefused',
    advice:
      'Nova refused to make the test server; its words say why. Check its flavor, its image and the quota of drover’s project.',
  },
  SmokeServerFailed: {
    retryable: true,
    reason: 'SmokeServerFailed',
    advice: 'The test server did not come up as it should. Read nova-compute’s log on the host.',
  },
  ConsoleUnavailable: {
    retryable: true,
    reason: 'ConsoleUnavailable',
    advice: 'The server has no console log yet. drover reads it again.',
  },
  InstanceNotFound: { retryable: false, reason: 'InstanceNotFound', advice: 'The server is gone.' },
  InstanceBusy: {
    retryable: false,
    reason: 'InstanceBusy',
    advice: 'Another operation holds the server. drover tries again.',
  },
  InstanceStateRefused: {
    retryable: false,
    reason: 'InstanceStateRefused',
    advice: 'Nova does not move a server in that state. Bring it to ACTIVE, PAUSED or SHUTOFF, then `drover retry`.',
  },
  MigrationRefused: {
    retryable: false,
    reason: 'MigrationRefused',
    advice: 'Nova refused the migration; its words say why.',
  },
  MigrationNotFound: {
    retryable: false,
    reason: 'MigrationNotFound',
    advice: 'Nova has no such migration. drover reads the server again.',
  },
  MigrationNotAbortable: {
    retryable: false,
    reason: 'MigrationNotAbortable',
    advice: 'The migration has passed the point where it can be aborted.',
  },
  ServiceConflict: {
    retryable: true,
    reason: 'ServiceConflict',
    advice: 'Another client changed the compute service at the same time. drover reads it again.',
  },

  // OpenStack
  CredentialRefused: {
    retryable: false,
    reason: 'CredentialRefused',
    advice:
      'Keystone refused the credential. Renew it where it stands: in the Secret of the MachineClass; or in clouds.yaml or OS_*, then restart the worker and `drover retry`.',
  },
  NotPermitted: {
    retryable: false,
    reason: 'NotPermitted',
    advice:
      'The credential may not do this. Give its user the admin role of the project, or the roles named in docs/operations.md.',
  },
  EndpointNotFound: {
    retryable: false,
    reason: 'EndpointNotFound',
    advice: 'The service catalog has no such endpoint. Check OS_REGION_NAME and OS_INTERFACE.',
  },
  NovaUnavailable: {
    retryable: true,
    reason: 'NovaUnavailable',
    advice: 'Nova did not answer as it should. drover keeps trying.',
  },
  PlacementUnavailable: {
    retryable: true,
    reason: 'PlacementUnavailable',
    advice: 'Placement did not answer as it should. drover keeps trying.',
  },
  NeutronUnavailable: {
    retryable: true,
    reason: 'NeutronUnavailable',
    advice: 'Neutron did not answer as it should. drover keeps trying.',
  },
  CinderUnavailable: {
    retryable: true,
    reason: 'CinderUnavailable',
    advice: 'Cinder did not answer as it should. drover keeps trying.',
  },
  GlanceUnavailable: {
    retryable: true,
    reason: 'GlanceUnavailable',
    advice: 'Glance did not answer as it should. drover keeps trying.',
  },
  KeystoneUnavailable: {
    retryable: true,
    reason: 'KeystoneUnavailable',
    advice: 'Keystone did not answer as it should. drover keeps trying.',
  },
  RequestRefused: {
    retryable: false,
    reason: 'RequestRefused',
    advice: 'The service refused the request; its words say why.',
  },
  AnswerMalformed: {
    retryable: true,
    reason: 'AnswerMalformed',
    advice: 'The answer does not have the documented shape. Check what stands between drover and the service.',
  },
  HostAttributeMissing: {
    retryable: false,
    reason: 'HostAttributeMissing',
    advice:
      'Nova hides the servers’ hosts from this credential or a cell is down, so drover cannot determine what is left. Use an admin credential.',
  },

  // BMCs (Redfish)
  BmcUnreachable: {
    retryable: true,
    reason: 'BmcUnreachable',
    advice:
      'Nothing is known of the host’s power, so it does not count as off. drover asks again; or make sure yourself and confirm it.',
  },
  BmcCredentialRefused: {
    retryable: false,
    reason: 'BmcCredentialRefused',
    advice:
      'The BMC refused drover’s user, or the user may not do this: it needs the role Operator. The host does not count as off.',
  },
  SystemNotFound: {
    retryable: false,
    reason: 'SystemNotFound',
    advice:
      'The BMC has no such machine, or it is another one. Compare path, UUID and serial number; drover never powers off a machine it is not sure of.',
  },
  PowerOffRefused: {
    retryable: false,
    reason: 'PowerOffRefused',
    advice: 'The host is not off. Switch it off by other means, make sure, and confirm it.',
  },
  PowerStillOn: {
    retryable: true,
    reason: 'PowerStillOn',
    advice:
      'The host does not count as off. drover asks again; find out who else switches it on, or switch it off by other means.',
  },

  // Hypervisors
  LibvirtUnavailable: {
    retryable: true,
    reason: 'LibvirtUnavailable',
    advice: 'libvirt on the host did not answer as it should. drover keeps trying.',
  },
  LibvirtCredentialRefused: {
    retryable: false,
    reason: 'LibvirtCredentialRefused',
    advice:
      'Compare the client certificate, user and password of drover’s settings with what the daemon on the host asks for.',
  },
  LibvirtDriverMissing: {
    retryable: false,
    reason: 'LibvirtDriverMissing',
    advice:
      'The daemon cannot open that URI. Install the driver on the host, or correct connectUri in drover’s settings.',
  },
  LibvirtRefused: {
    retryable: false,
    reason: 'LibvirtRefused',
    advice: 'libvirt refused the request; its words say why.',
  },
  HypervisorFailed: {
    retryable: true,
    reason: 'HypervisorFailed',
    advice: 'The hypervisor could not do it; libvirt’s words say why. drover tries again.',
  },
  DomainNotFound: {
    retryable: true,
    reason: 'DomainNotFound',
    advice:
      'libvirt on the host has no such domain; another check of the host may have removed it. drover makes it again.',
  },
  StoragePoolNotFound: {
    retryable: true,
    reason: 'StoragePoolNotFound',
    advice:
      'libvirt on the host has no such storage pool; it drops one whose refresh failed, and another check of the host may have removed it. drover defines it again.',
  },

  // Hypervisors' own services
  CertificateNotTrusted: {
    retryable: false,
    reason: 'CertificateNotTrusted',
    advice: 'Compare the CA, the certificates and the names in them on both sides; then `drover retry`.',
  },
  OvsUnavailable: {
    retryable: true,
    reason: 'OvsUnavailable',
    advice: 'ovsdb-server did not answer as it should. drover keeps trying.',
  },
  OvsDatabaseMissing: {
    retryable: false,
    reason: 'OvsDatabaseMissing',
    advice: 'That OVSDB server is not Open vSwitch’s. Check the port: 6640 by custom, where 6641 and 6642 are OVN’s.',
  },
  OvsBridgeMissing: {
    retryable: true,
    reason: 'OvsBridgeMissing',
    advice: 'The network agent or `ovs-vsctl add-br` on the host creates it. drover checks again.',
  },
  OvsBridgeFaulty: {
    retryable: true,
    reason: 'OvsBridgeFaulty',
    advice: '`ovs-vsctl show` on the host shows the same error. drover checks again.',
  },

  // Ceph
  CephUnavailable: {
    retryable: true,
    reason: 'CephUnavailable',
    advice: 'The Ceph dashboard did not answer as it should. drover keeps trying.',
  },
  CephCredentialRefused: {
    retryable: false,
    reason: 'CephCredentialRefused',
    advice:
      'The Ceph dashboard refused the user. Renew its name and password in drover’s settings, then `drover retry`.',
  },
  CephNotPermitted: {
    retryable: false,
    reason: 'CephNotPermitted',
    advice: 'The user of the Ceph dashboard may not read that. Give it the role read-only.',
  },
  CephUnhealthy: {
    retryable: true,
    reason: 'CephUnhealthy',
    advice:
      'Mend the cluster (`ceph health detail`), or tolerate these checks in drover’s settings. drover checks again.',
  },
  CephPoolMissing: {
    retryable: false,
    reason: 'CephPoolMissing',
    advice: 'Make the pool, or correct its name in drover’s settings; then `drover retry`.',
  },
  CephPoolNotRbd: {
    retryable: false,
    reason: 'CephPoolNotRbd',
    advice: 'Enable it for block devices: `ceph osd pool application enable POOL rbd`; then `drover retry`.',
  },

  // vSphere
  VsphereUnavailable: {
    retryable: true,
    reason: 'VsphereUnavailable',
    advice: 'vCenter did not answer as it should. drover keeps trying.',
  },
  VsphereCredentialRefused: {
    retryable: false,
    reason: 'VsphereCredentialRefused',
    advice:
      'vCenter refused the user. Renew its name and password where they stand: in the Secret of the MachineClass, or in the files that drover’s settings name, then `drover retry`.',
  },
  VsphereNotPermitted: {
    retryable: false,
    reason: 'VsphereNotPermitted',
    advice:
      'drover’s user at vCenter lacks a privilege: docs/vsphere.md has the list. Give it to its role, then `drover retry`.',
  },
  VsphereObjectNotFound: {
    retryable: false,
    passes: true,
    reason: 'VsphereObjectNotFound',
    advice:
      'vCenter has no such folder, pool, datastore, network, host, or item of a library. Correct what names it; drover tries again.',
  },
  VsphereResourcesExhausted: {
    retryable: false,
    passes: true,
    reason: 'VsphereResourcesExhausted',
    advice: 'vCenter has too little memory, CPU, space, slots or licences for it. Make room; drover tries again later.',
  },
  VsphereBusy: {
    retryable: true,
    reason: 'VsphereBusy',
    advice: 'vCenter has too much to do, or drover’s budget for it is used up. drover tries again.',
  },
  PromotionsFull: {
    retryable: false,
    passes: true,
    reason: 'PromotionsFull',
    advice: 'A promotion may take an hour, and leaves room for other tasks. drover begins it when others have ended.',
  },
  VsphereReplaced: {
    retryable: false,
    passes: true,
    reason: 'VcenterChanged',
    advice:
      'Another vCenter answers at the address than the one in which the VM was searched, and nothing was made in it. drover reads it again, and says then what to do.',
  },
  VsphereNotSupported: {
    retryable: false,
    reason: 'NotSupported',
    advice: 'drover does not do that at a vCenter yet; docs/vsphere.md says what it does.',
  },
  VsphereFailed: {
    retryable: true,
    reason: 'VsphereFailed',
    advice: 'vCenter could not do it; its message says why. drover tries again.',
  },
  VsphereTaskNotFound: {
    retryable: false,
    passes: true,
    reason: 'VsphereTaskNotFound',
    advice:
      'vCenter has forgotten the task, as it does some time after its end or when it restarts. drover reads the VM itself, and tries again.',
  },
  VsphereTaskCancelled: {
    retryable: false,
    reason: 'VsphereTaskCancelled',
    advice: 'The task was cancelled at vCenter. When it is wanted after all: `drover retry`.',
  },
  VsphereTaskOverdue: {
    retryable: false,
    passes: true,
    reason: 'VsphereTaskOverdue',
    advice: 'The task still runs at vCenter. Check it there; drover reads the VM again later.',
  },
  VirtualMachineNotFound: { retryable: false, reason: 'VirtualMachineNotFound', advice: 'The VM is gone.' },
  VirtualMachineAmbiguous: {
    retryable: false,
    reason: 'VirtualMachineAmbiguous',
    advice:
      'Several VMs have one UUID, so drover touches none. Give those that are copies another one, or remove them.',
  },
  VirtualMachineNameTaken: {
    retryable: false,
    reason: 'VirtualMachineNameTaken',
    advice:
      'Something else in the folder has that name, and drover does not touch it. Rename or remove it, or choose another name.',
  },
  VirtualMachineNotOwned: {
    retryable: false,
    reason: 'VirtualMachineNotOwned',
    advice: 'The VM does not say that it belongs to this object, so drover does not change it.',
  },
  VirtualMachineConflict: {
    retryable: true,
    reason: 'VirtualMachineConflict',
    advice: 'Another client changed the VM at the same time, or another task holds it. drover reads it again.',
  },
  VirtualMachineStateRefused: {
    retryable: false,
    passes: true,
    reason: 'VirtualMachineStateRefused',
    advice: 'vCenter does not do that to a VM in its present state; its message says which. drover reads it again.',
  },
  GuestToolsNotRunning: {
    retryable: false,
    reason: 'GuestToolsNotRunning',
    advice: 'VMware Tools do not run in the guest, so it cannot be asked. Start them, or allow the hard way.',
  },
  GuestAnswerLost: {
    retryable: false,
    passes: true,
    reason: 'GuestAnswerLost',
    advice:
      'The guest cannot be asked now, and an earlier answer of vCenter’s was lost: it may be doing what it was asked. drover waits before it forces anything.',
  },
  ForeignDisksAttached: {
    retryable: false,
    reason: 'ForeignDisksAttached',
    advice: 'Disks that drover did not make are attached, and would be destroyed with the VM. Detach them.',
  },

  // Discovery ISOs
  IsoUnavailable: {
    retryable: true,
    reason: 'ISORefreshFailed',
    advice:
      'The discovery ISO could not be downloaded. drover keeps trying, and takes the URL that the InfraEnv has then.',
  },
  IsoRefused: {
    retryable: false,
    passes: true,
    reason: 'ISORefused',
    advice:
      'drover does not take this ISO; VMs keep the one that is there. Correct the InfraEnv, or what agentPools.iso in drover’s settings allows.',
  },

  // Kubernetes
  KubernetesUnavailable: {
    retryable: true,
    reason: 'KubernetesUnavailable',
    advice: 'kube-apiserver did not answer as it should. drover keeps trying.',
  },
  KubernetesForbidden: {
    retryable: false,
    reason: 'KubernetesForbidden',
    advice: 'drover’s service account lacks a permission. Apply deploy/rbac.',
  },
  ObjectNotFound: { retryable: false, reason: 'ObjectNotFound', advice: 'The object is gone.' },
  ObjectConflict: {
    retryable: true,
    reason: 'ObjectConflict',
    advice: 'Another client changed the object at the same time. drover reads it again.',
  },
  ImageCacheNotInstalled: {
    retryable: false,
    reason: 'ImageCacheNotInstalled',
    advice:
      'Fast deploy was asked for, by the annotation of the VM or by virtualMachine.fastDeploy, and needs VirtualMachineImageCaches and something that fills them. Install both, or do not ask for it: auto does without.',
  },
  QuotaExceeded: {
    retryable: false,
    passes: true,
    reason: 'ErrExceededQuota',
    advice: 'A ResourceQuota of the namespace is used up. Raise it, or delete what is not needed: drover goes on then.',
  },
  ObjectRefused: {
    retryable: false,
    reason: 'ObjectRefused',
    advice: 'kube-apiserver refused the object; its words say why.',
  },

  // Temporal
  PayloadKeyMissing: {
    retryable: true,
    reason: 'PayloadKeyMissing',
    advice: 'Add that key to the keyring (DROVER_PAYLOAD_KEYS) of every drover process and start it again.',
  },
  PayloadUnreadable: {
    retryable: false,
    reason: 'PayloadUnreadable',
    advice:
      'It was changed after it was written, or written with another key of the same id. Compare the keyrings of all processes.',
  },
  TemporalUnavailable: {
    retryable: true,
    reason: 'TemporalUnavailable',
    advice: 'Temporal did not answer as it should. drover keeps trying.',
  },
} as const satisfies Record<string, ErrorRow>;

export type ErrorCode = keyof typeof errors;

/** Whether it may be gone when it is tried again later. */
export function mayPass(code: ErrorCode): boolean {
  const { retryable, passes }: ErrorRow = errors[code];
  return retryable || passes === true;
}

/** Whether `code`, as found in a failure's type, is a row of the table. */
export const isErrorCode = (code: unknown): code is ErrorCode =>
  typeof code === 'string' && Object.hasOwn(errors, code);
