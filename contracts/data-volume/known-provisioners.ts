import type { StorageProfile } from '../crds/storage-profile.ts';
import type { Strategy } from './metadata.ts';

/**
 * What volumes of provisioners can be, and how they are cloned best, as CDI knows it
 * (docs/data-volumes.md#storage-profiles). Pure.
 */

export type ClaimPropertySet = NonNullable<NonNullable<StorageProfile['spec']>['claimPropertySets']>[number];

/** Access modes and volume mode of a volume, in one word. */
type Capability = `${'rwo' | 'rwx' | 'rox'}-${'file' | 'block'}`;

export interface KnownProvisioner {
  /** The best first. */
  can: readonly Capability[];
  /** Left out: by snapshots where there is a class for them, else by a copy. */
  strategy?: Strategy;
  /** Images that many volumes are cloned from are best kept as snapshots. */
  keepsSnapshots?: true;
  minimumSize?: string;
}

const blockAndFile: readonly Capability[] = ['rwx-block', 'rwo-block', 'rwo-file'];
const singleBlockAndFile: readonly Capability[] = ['rwo-block', 'rwo-file'];
const allButSharedFiles: readonly Capability[] = [...blockAndFile, 'rox-block', 'rox-file'];
const allFiles: readonly Capability[] = ['rwx-file', 'rwo-file', 'rox-file'];
const files: readonly Capability[] = ['rwx-file', 'rwo-file'];
const sharedFile: readonly Capability[] = ['rwx-file'];
const singleFile: readonly Capability[] = ['rwo-file'];
const singleBlock: readonly Capability[] = ['rwo-block'];
const withReadOnlyBlock: readonly Capability[] = [...blockAndFile, 'rox-block'];
const everything: readonly Capability[] = ['rwx-block', 'rwx-file', 'rwo-block', 'rwo-file'];

/** Those of one provisioner that differ by the parameters of the class have a word behind its name. */
const known: Readonly<Record<string, KnownProvisioner>> = {
  'kubevirt.io.hostpath-provisioner': { can: singleFile },
  'kubevirt.io/hostpath-provisioner': { can: singleFile },
  'k8s.io/minikube-hostpath': { can: singleFile },
  'nfs.csi.k8s.io': { can: sharedFile },
  'k8s-sigs.io/nfs-subdir-external-provisioner': { can: sharedFile },
  'kubernetes.io/rbd': { can: blockAndFile },
  'rbd.csi.ceph.com': { can: blockAndFile, strategy: 'csi-clone' },
  'rook-ceph.rbd.csi.ceph.com': { can: blockAndFile, strategy: 'csi-clone', keepsSnapshots: true },
  'openshift-storage.rbd.csi.ceph.com': { can: blockAndFile, strategy: 'csi-clone', keepsSnapshots: true },
  'cephfs.csi.ceph.com': { can: sharedFile, strategy: 'csi-clone' },
  'openshift-storage.cephfs.csi.ceph.com': { can: sharedFile, strategy: 'csi-clone' },
  'linstor.csi.linbit.com': { can: allButSharedFiles },
  'csi-unity.dellemc.com': { can: allButSharedFiles },
  'csi-unity.dellemc.com/nfs': { can: allFiles },
  'csi-vxflexos.dellemc.com': { can: allButSharedFiles, strategy: 'csi-clone' },
  'csi-vxflexos.dellemc.com/nfs': { can: allFiles },
  'csi-isilon.dellemc.com': { can: allFiles, strategy: 'csi-clone' },
  'csi-powermax.dellemc.com': { can: withReadOnlyBlock, strategy: 'csi-clone' },
  'csi-powermax.dellemc.com/nfs': { can: allFiles },
  'csi-powerstore.dellemc.com': { can: withReadOnlyBlock, strategy: 'copy' },
  'csi-powerstore.dellemc.com/nfs': { can: allFiles },
  'kubernetes.io/storageos': { can: singleFile },
  storageos: { can: singleFile },
  'kubernetes.io/aws-ebs': { can: singleBlock },
  'ebs.csi.aws.com': { can: singleBlock },
  'ebs.csi.aws.com/io1': { can: singleBlock, minimumSize: '4Gi' },
  'ebs.csi.aws.com/io2': { can: blockAndFile, minimumSize: '4Gi' },
  'ebs.csi.aws.com/gp': { can: singleBlock, minimumSize: '1Gi' },
  'efs.csi.aws.com': { can: files },
  'kubernetes.io/azure-disk': { can: singleBlock },
  'disk.csi.azure.com': { can: singleBlock },
  'kubernetes.io/azure-file': { can: sharedFile },
  'file.csi.azure.com': { can: sharedFile },
  'kubernetes.io/gce-pd': { can: singleBlock },
  'pd.csi.storage.gke.io': { can: singleBlock, strategy: 'snapshot', keepsSnapshots: true },
  'pd.csi.storage.gke.io/hyperdisk': {
    can: blockAndFile,
    strategy: 'snapshot',
    keepsSnapshots: true,
    minimumSize: '4Gi',
  },
  'hspc.csi.hitachi.com': { can: blockAndFile, strategy: 'csi-clone' },
  'csi.hpe.com': { can: blockAndFile, strategy: 'csi-clone' },
  'spectrumscale.csi.ibm.com': { can: files, strategy: 'csi-clone' },
  'block.csi.ibm.com': { can: blockAndFile, strategy: 'csi-clone' },
  'vpc.block.csi.ibm.io': { can: singleBlockAndFile, strategy: 'copy' },
  'vpc.file.csi.ibm.io': { can: files, strategy: 'snapshot' },
  'kubernetes.io/portworx-volume': { can: everything },
  'kubernetes.io/portworx-volume/nfs': { can: files },
  'pxd.portworx.com': { can: everything, strategy: 'csi-clone' },
  'pxd.portworx.com/nfs': { can: files, strategy: 'csi-clone' },
  'pxd.portworx.com/pure_block': { can: blockAndFile },
  'pxd.portworx.com/pure_fa_file': { can: files },
  'csi.trident.netapp.io/ontap-nas': { can: files, strategy: 'snapshot', keepsSnapshots: true },
  'csi.trident.netapp.io/ontap-san': { can: ['rwx-block'], strategy: 'snapshot', keepsSnapshots: true },
  'csi.trident.netapp.io/gcnv-flex': { can: files, strategy: 'snapshot', keepsSnapshots: true, minimumSize: '1Gi' },
  'topolvm.cybozu.com': { can: singleBlockAndFile, strategy: 'copy' },
  'topolvm.io': { can: singleBlockAndFile, strategy: 'copy' },
  'cinder.csi.openstack.org': { can: singleBlockAndFile },
  'manila.csi.openstack.org': { can: sharedFile },
  'csi.ovirt.org': { can: singleBlockAndFile },
  'infinibox-csi-driver/iscsiorfibrechannel': { can: blockAndFile, strategy: 'csi-clone' },
  'infinibox-csi-driver/nvme': { can: blockAndFile, strategy: 'csi-clone' },
  'infinibox-csi-driver/nfs': { can: files, strategy: 'csi-clone' },
  'csi.vsphere.vmware.com': { can: singleBlockAndFile },
  'csi.vsphere.vmware.com/nfs': { can: ['rwx-file', 'rwo-block', 'rwo-file'] },
  'csi.huawei.com': { can: allButSharedFiles },
  'csi.huawei.com/nfs': { can: allFiles },
  'kubesan.gitlab.io': { can: ['rwx-block', 'rox-block', 'rwo-block', 'rwo-file'], strategy: 'csi-clone' },
  'driver.longhorn.io': { can: singleBlock },
  'driver.longhorn.io/migratable': { can: ['rwx-block', 'rwo-block'] },
  'driver.longhorn.io/nfs': { can: files },
  'driver.longhorn.io/fs': { can: singleFile },
  'blockvolume.csi.oraclecloud.com': { can: blockAndFile, strategy: 'csi-clone' },
};

type Parameters = Readonly<Record<string, string>>;

const fileSystem = (parameters: Parameters): string => (parameters['csi.storage.k8s.io/fstype'] ?? '').toLowerCase();
const isNfs = (parameters: Parameters): string => (fileSystem(parameters) === 'nfs' ? 'nfs' : '');

/** Portworx shares a volume by NFS where its mount options say so. */
function isSharedByNfs(parameters: Parameters): string {
  const options = (parameters['sharedv4_mount_options'] ?? '').split(',');
  return options.includes('vers=3.0') && options.includes('nolock') ? 'nfs' : '';
}

/**
 * The word behind the provisioner's name, by the parameters of the class; empty: none. Null: they are none
 * that is known.
 */
const variants: Readonly<Record<string, (parameters: Parameters) => string | null>> = {
  'kubernetes.io/portworx-volume': isSharedByNfs,
  'pxd.portworx.com': (parameters) => {
    const { backend } = parameters;
    if (backend === undefined) return isSharedByNfs(parameters);
    return backend === 'pure_block' || backend === 'pure_fa_file' ? backend : '';
  },
  'csi.trident.netapp.io': ({ backendType = '', selector = '' }) => {
    if (backendType.startsWith('ontap-nas')) return 'ontap-nas';
    if (backendType.startsWith('ontap-san')) return 'ontap-san';
    const isFlexible = selector.split(/[;,]/u).some((one) => one.trim() === 'performance=flex');
    return backendType === 'google-cloud-netapp-volumes' && isFlexible ? 'gcnv-flex' : null;
  },
  'infinibox-csi-driver': ({ storage_protocol: protocol = '' }) =>
    ({ iscsi: 'iscsiorfibrechannel', fc: 'iscsiorfibrechannel', nvme: 'nvme', nfs: 'nfs', nfs_treeq: 'nfs' })[
      protocol
    ] ?? null,
  'csi.vsphere.vmware.com': (parameters) => (fileSystem(parameters).includes('nfs') ? 'nfs' : ''),
  'csi-unity.dellemc.com': ({ protocol = '' }) => (protocol.toLowerCase() === 'nfs' ? 'nfs' : ''),
  'csi-powerstore.dellemc.com': isNfs,
  'csi-vxflexos.dellemc.com': isNfs,
  'csi-powermax.dellemc.com': isNfs,
  'csi.huawei.com': ({ protocol = '' }) => (protocol === 'nfs' ? 'nfs' : ''),
  'driver.longhorn.io': ({ migratable, nfsOptions = '', fsType = '' }) => {
    if (migratable === 'true') return 'migratable';
    if (nfsOptions !== '') return 'nfs';
    return fsType === '' ? '' : 'fs';
  },
  'ebs.csi.aws.com': ({ type = '' }) =>
    type === 'gp2' || type === 'gp3' ? 'gp' : ['io1', 'io2'].includes(type) ? type : '',
  'pd.csi.storage.gke.io': ({ type = '' }) =>
    type === 'hyperdisk-balanced' || type === 'hyperdisk-balanced-high-availability' ? 'hyperdisk' : '',
};

/** `unknownParameters`: the provisioner is known, and with these parameters its volumes are not. */
export function findProvisioner(
  provisioner: string,
  parameters: Parameters,
): KnownProvisioner | 'unknownParameters' | null {
  const variant = Object.hasOwn(variants, provisioner) ? variants[provisioner]?.(parameters) : '';
  if (variant === null) return 'unknownParameters';
  const key = variant === undefined || variant === '' ? provisioner : `${provisioner}/${variant}`;
  return Object.hasOwn(known, key) ? (known[key] ?? null) : null;
}

const accessModes = { rwo: 'ReadWriteOnce', rwx: 'ReadWriteMany', rox: 'ReadOnlyMany' } as const;
const volumeModes = { file: 'Filesystem', block: 'Block' } as const;

/** One set for each capability, as CDI writes them. */
export const claimPropertySetsOf = ({ can }: KnownProvisioner): ClaimPropertySet[] =>
  can.map((capability) => {
    const [access, volume] = capability.split('-') as [keyof typeof accessModes, keyof typeof volumeModes];
    return { accessModes: [accessModes[access]], volumeMode: volumeModes[volume] };
  });
