import { chooseSnapshotClass, computeProfile, type ProfileFacts } from './storage-profile.ts';

const driver = 'csi.example.com';
const snapshotClass = (name: string, of = driver, isDefault = false) => ({
  metadata: {
    name,
    ...(isDefault && { annotations: { 'snapshot.storage.kubernetes.io/is-default-class': 'true' } }),
  },
  driver: of,
});

const classes: [
  rule: string,
  named: string | undefined,
  all: ReturnType<typeof snapshotClass>[],
  name: string | null,
][] = [
  ['none', undefined, [], null],
  ['none of the driver', undefined, [snapshotClass('a', 'other.example.com', true)], null],
  ['the first by name', undefined, [snapshotClass('b'), snapshotClass('a'), snapshotClass('B')], 'B'],
  ['the default of the driver', undefined, [snapshotClass('a'), snapshotClass('b', driver, true)], 'b'],
  ['of two defaults the first', undefined, [snapshotClass('c', driver, true), snapshotClass('b', driver, true)], 'b'],
  ['the one that is named', 'a', [snapshotClass('a'), snapshotClass('b', driver, true)], 'a'],
  ['one that is named by nothing', '', [snapshotClass('a')], 'a'],
  [
    'one that is named and is of another driver',
    'a',
    [snapshotClass('a', 'other.example.com'), snapshotClass('b')],
    null,
  ],
  ['one that is named and is not there', 'z', [snapshotClass('a')], null],
];

test.each(classes)('VolumeSnapshotClass: %s', (_rule, named, all, name) => {
  const chosen = chooseSnapshotClass(driver, named, all);
  expect(chosen.name).toBe(name);
  expect(chosen.why).toContain(name ?? driver);
});

interface Parts {
  provisioner?: string;
  parameters?: Record<string, string>;
  annotation?: string;
  spec?: NonNullable<ProfileFacts['profile']>['spec'];
  minimum?: string;
  snapshotClasses?: ProfileFacts['snapshotClasses'];
}

const compute = ({ provisioner = driver, parameters, annotation, spec, minimum, snapshotClasses = [] }: Parts) =>
  computeProfile({
    class: {
      metadata: {
        name: 'fast',
        ...(annotation !== undefined && { annotations: { 'cdi.kubevirt.io/clone-strategy': annotation } }),
      },
      provisioner,
      ...(parameters && { parameters }),
    },
    profile: {
      spec,
      metadata: {
        ...(minimum !== undefined && { annotations: { 'cdi.kubevirt.io/minimumSupportedPvcSize': minimum } }),
      },
    },
    snapshotClasses,
  });

const has = { snapshotClasses: [snapshotClass('s')] };
const ceph = 'rook-ceph.rbd.csi.ceph.com';
const trident = { provisioner: 'csi.trident.netapp.io', parameters: { backendType: 'ontap-nas-economy' } };
const ofTrident = { snapshotClasses: [snapshotClass('s', 'csi.trident.netapp.io')] };

const strategies: [rule: string, parts: Parts, strategy: string][] = [
  ['a driver that is not known, without snapshots', {}, 'copy'],
  ['a driver that is not known, with snapshots', has, 'snapshot'],
  ['a driver that is known', { provisioner: ceph }, 'csi-clone'],
  [
    'a driver that is known to be copied, with snapshots',
    { provisioner: 'topolvm.io', snapshotClasses: [snapshotClass('s', 'topolvm.io')] },
    'copy',
  ],
  ['known to make snapshots, with a class', { ...trident, ...ofTrident }, 'snapshot'],
  ['known to make snapshots, without a class', trident, 'copy'],
  ['the class says', { provisioner: ceph, annotation: 'copy' }, 'copy'],
  ['the class says something else', { provisioner: ceph, annotation: 'quickly' }, 'csi-clone'],
  ['the profile says, before the class', { annotation: 'copy', spec: { cloneStrategy: 'csi-clone' } }, 'csi-clone'],
  ['the profile says snapshot, without a class for them', { spec: { cloneStrategy: 'snapshot' } }, 'snapshot'],
];

test.each(strategies)('strategy: %s', (_rule, parts, strategy) => {
  expect(compute(parts).cloneStrategy).toBe(strategy);
});

const block = [{ accessModes: ['ReadWriteMany' as const], volumeMode: 'Block' as const }];

const properties: [rule: string, parts: Parts, sets: object[], reason: string][] = [
  ['nothing is known', {}, [], 'UnrecognizedProvisioner'],
  [
    'the best first',
    { provisioner: ceph },
    [
      { accessModes: ['ReadWriteMany'], volumeMode: 'Block' },
      { accessModes: ['ReadWriteOnce'], volumeMode: 'Block' },
      { accessModes: ['ReadWriteOnce'], volumeMode: 'Filesystem' },
    ],
    'RecognizedProvisioner',
  ],
  ['the profile says', { provisioner: ceph, spec: { claimPropertySets: block } }, block, 'RecognizedProvisioner'],
  ['the profile says what is not known', { spec: { claimPropertySets: block } }, block, 'UnrecognizedProvisioner'],
  [
    'an empty profile says nothing',
    { provisioner: 'topolvm.io', spec: { claimPropertySets: [] } },
    [
      { accessModes: ['ReadWriteOnce'], volumeMode: 'Block' },
      { accessModes: ['ReadWriteOnce'], volumeMode: 'Filesystem' },
    ],
    'RecognizedProvisioner',
  ],
  ['parameters that are not known', { provisioner: 'csi.trident.netapp.io' }, [], 'UnrecognizedStorageClassParameters'],
  ['a name of every object', { provisioner: 'constructor' }, [], 'UnrecognizedProvisioner'],
];

test.each(properties)('what volumes can be: %s', (_rule, parts, sets, reason) => {
  const { claimPropertySets, recognized } = compute(parts);
  expect(claimPropertySets).toEqual(sets);
  expect(recognized.reason).toBe(reason);
  expect(recognized.status).toBe(reason === 'RecognizedProvisioner' ? 'True' : 'False');
});

const first = (provisioner: string, parameters: Record<string, string>): string => {
  const [set] = compute({ provisioner, parameters }).claimPropertySets;
  return set === undefined ? 'unknown' : `${set.accessModes.join()} ${set.volumeMode}`;
};

test.each([
  ['kubernetes.io/portworx-volume', {}, 'ReadWriteMany Block'],
  ['kubernetes.io/portworx-volume', { sharedv4_mount_options: 'vers=3.0,nolock' }, 'ReadWriteMany Filesystem'],
  ['pxd.portworx.com', { sharedv4_mount_options: 'nolock' }, 'ReadWriteMany Block'],
  ['pxd.portworx.com', { sharedv4_mount_options: 'vers=3.0,nolock' }, 'ReadWriteMany Filesystem'],
  ['pxd.portworx.com', { backend: 'pure_fa_file' }, 'ReadWriteMany Filesystem'],
  ['pxd.portworx.com', { backend: 'other', sharedv4_mount_options: 'vers=3.0,nolock' }, 'ReadWriteMany Block'],
  ['csi.trident.netapp.io', { backendType: 'ontap-san' }, 'ReadWriteMany Block'],
  [
    'csi.trident.netapp.io',
    { backendType: 'google-cloud-netapp-volumes', selector: 'a=b ; performance=flex' },
    'ReadWriteMany Filesystem',
  ],
  ['csi.trident.netapp.io', { backendType: 'google-cloud-netapp-volumes' }, 'unknown'],
  ['infinibox-csi-driver', { storage_protocol: 'fc' }, 'ReadWriteMany Block'],
  ['infinibox-csi-driver', { storage_protocol: 'nvme' }, 'ReadWriteMany Block'],
  ['infinibox-csi-driver', { storage_protocol: 'nfs_treeq' }, 'ReadWriteMany Filesystem'],
  ['infinibox-csi-driver', { storage_protocol: 'smb' }, 'unknown'],
  ['csi.vsphere.vmware.com', { 'csi.storage.k8s.io/fstype': 'NFS4' }, 'ReadWriteMany Filesystem'],
  ['csi.vsphere.vmware.com', {}, 'ReadWriteOnce Block'],
  ['csi-unity.dellemc.com', { protocol: 'NFS' }, 'ReadWriteMany Filesystem'],
  ['csi-unity.dellemc.com', {}, 'ReadWriteMany Block'],
  ['csi-powerstore.dellemc.com', { 'csi.storage.k8s.io/fstype': 'nfs' }, 'ReadWriteMany Filesystem'],
  ['csi-vxflexos.dellemc.com', { 'csi.storage.k8s.io/fstype': 'xfs' }, 'ReadWriteMany Block'],
  ['csi-powermax.dellemc.com', {}, 'ReadWriteMany Block'],
  ['csi.huawei.com', { protocol: 'nfs' }, 'ReadWriteMany Filesystem'],
  ['csi.huawei.com', { protocol: 'NFS' }, 'ReadWriteMany Block'],
  ['driver.longhorn.io', {}, 'ReadWriteOnce Block'],
  ['driver.longhorn.io', { migratable: 'true' }, 'ReadWriteMany Block'],
  ['driver.longhorn.io', { nfsOptions: 'vers=4.2' }, 'ReadWriteMany Filesystem'],
  ['driver.longhorn.io', { fsType: 'xfs' }, 'ReadWriteOnce Filesystem'],
  ['ebs.csi.aws.com', { type: 'io2' }, 'ReadWriteMany Block'],
  ['ebs.csi.aws.com', { type: 'st1' }, 'ReadWriteOnce Block'],
  ['pd.csi.storage.gke.io', { type: 'hyperdisk-balanced' }, 'ReadWriteMany Block'],
  ['pd.csi.storage.gke.io', { type: 'pd-ssd' }, 'ReadWriteOnce Block'],
])('%s with %j is %s', (provisioner, parameters: Record<string, string>, expected) => {
  expect(first(provisioner, parameters)).toBe(expected);
});

const minima: [rule: string, parts: Parts, bytes: number][] = [
  ['none', {}, 0],
  ['the known one', { provisioner: 'ebs.csi.aws.com', parameters: { type: 'gp3' } }, 1024 ** 3],
  [
    'the one that users say',
    { provisioner: 'ebs.csi.aws.com', parameters: { type: 'gp3' }, minimum: '2Gi' },
    2 * 1024 ** 3,
  ],
  ['what is no size', { minimum: 'small' }, 0],
];

test.each(minima)('least size: %s', (_rule, parts, bytes) => {
  expect(compute(parts).minimumBytes).toBe(bytes);
});

const ofCeph = { provisioner: ceph, snapshotClasses: [snapshotClass('s', ceph)] };
const formats: [rule: string, parts: Parts, format: string][] = [
  ['volumes', {}, 'pvc'],
  ['snapshots, where that is known to be better', ofCeph, 'snapshot'],
  ['volumes, where no class makes snapshots', { provisioner: ceph }, 'pvc'],
  ['as users say', { spec: { dataImportCronSourceFormat: 'snapshot' } }, 'snapshot'],
  ['as users say, whatever is known', { ...ofCeph, spec: { dataImportCronSourceFormat: 'pvc' } }, 'pvc'],
];

test.each(formats)('images are kept as %s', (_rule, parts, format) => {
  expect(compute(parts).dataImportCronSourceFormat).toBe(format);
});

test('without a StorageProfile it is computed all the same', () => {
  const facts = { class: { metadata: { name: 'fast' }, provisioner: ceph }, profile: null, snapshotClasses: [] };
  expect(computeProfile(facts)).toMatchObject({ cloneStrategy: 'csi-clone', snapshotClass: null });
});
