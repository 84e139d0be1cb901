import { z } from 'zod';
import type { CrdBody } from './definition.ts';
import { anyObject, customResource, int32, listMap, quantity, time, withRules } from './schema.ts';

const mib = 1024 ** 2;

const accessMode = () => z.enum(['ReadWriteOnce', 'ReadOnlyMany', 'ReadWriteMany', 'ReadWriteOncePod']);
export const volumeMode = () => z.enum(['Filesystem', 'Block']);
export const cloneStrategy = () => z.enum(['copy', 'snapshot', 'csi-clone']);

/** A kind of access modes, at most one of each. */
export const accessModes = () => z.array(accessMode()).max(4);

const namespaced = (description: string) =>
  z.object({ namespace: z.string().min(1).max(63), name: z.string().min(1).max(253) }).describe(description);

/** What a volume may be cloned from, as a DataVolume and a DataSource name it. */
export const cloneSources = {
  pvc: namespaced('A PersistentVolumeClaim.').optional(),
  snapshot: namespaced('A VolumeSnapshot.').optional(),
};

const sourceNames = ['http', 's3', 'gcs', 'registry', 'pvc', 'upload', 'blank', 'imageio', 'vddk', 'snapshot'] as const;
const celNumberOfSources = `[${sourceNames.map((name) => `has(self.${name})`).join(', ')}].filter(there, there).size()`;

const imported = () => anyObject().optional().describe('Left to CDI.');

const source = withRules(
  z.object({
    ...cloneSources,
    blank: anyObject().optional().describe('An empty volume.'),
    gcs: imported(),
    http: imported(),
    imageio: imported(),
    registry: imported(),
    s3: imported(),
    upload: imported(),
    vddk: imported(),
  }),
  {
    cel: `${celNumberOfSources} > 0`,
    message: 'Missing Data volume source',
  },
  {
    cel: `${celNumberOfSources} < 2`,
    message: 'Multiple Data volume sources',
  },
);

const storedIn = "has(self.resources) && has(self.resources.requests) && 'storage' in self.resources.requests";
const storedBytes = 'quantity(string(self.resources.requests["storage"]))';

const resources = z.object({
  limits: z.record(z.string(), quantity()).optional(),
  requests: z.record(z.string(), quantity()).optional(),
});

const claim = {
  dataSource: z
    .object({ apiGroup: z.string().optional(), kind: z.string(), name: z.string() })
    .optional()
    .describe('Left to the populator of that kind.'),
  dataSourceRef: z
    .object({
      apiGroup: z.string().optional(),
      kind: z.string(),
      name: z.string(),
      namespace: z.string().optional(),
    })
    .optional()
    .describe('Left to the populator of that kind.'),
  resources: resources.optional(),
  selector: anyObject().optional(),
  storageClassName: z.string().max(253).optional(),
  volumeMode: volumeMode().optional(),
  volumeName: z.string().optional(),
};

const sizeRules = (name: string) => [
  {
    cel: `!(${storedIn}) || ${storedBytes}.isGreaterThan(quantity("0"))`,
    message: `${name} size can't be equal or less than zero`,
  },
  {
    cel: `!(${storedIn}) || !${storedBytes}.isGreaterThan(quantity("0")) || ${storedBytes}.compareTo(quantity("${mib}")) >= 0`,
    message: `${name} size should be at least 1MiB`,
  },
];

const pvc = withRules(
  z.object({
    ...claim,
    accessModes: accessModes().optional(),
    volumeAttributesClassName: z.string().optional(),
  }),
  {
    cel: storedIn,
    message: 'PVC size is missing',
  },
  ...sizeRules('PVC'),
  {
    cel: 'has(self.accessModes) && size(self.accessModes) > 0',
    message: 'Required value: at least 1 access mode is required',
  },
  {
    cel: '!has(self.accessModes) || size(self.accessModes) < 2',
    message: 'PVC multiple accessModes',
  },
);

const storage = withRules(z.object({ ...claim, accessModes: accessModes().optional() }), ...sizeRules('Storage'));

// The rules are for kube-apiserver alone: an object that came past them is read, and says what is wrong with it.
const spec = withRules(
  z.object({
    checkpoints: z
      .array(z.object({ current: z.string(), previous: z.string() }))
      .optional()
      .describe('Of an import.'),
    contentType: z.enum(['kubevirt', 'archive']).optional().describe('What is in it. Left out: the disk of a VM.'),
    finalCheckpoint: z.boolean().optional(),
    preallocation: z.boolean().optional(),
    priorityClassName: z.string().optional(),
    pvc: pvc.optional().describe('The PersistentVolumeClaim as it is to be.'),
    serviceAccountName: z.string().optional(),
    source: source.optional().describe('What is in it.'),
    sourceRef: withRules(
      z.object({ kind: z.string(), name: z.string().min(1), namespace: z.string().max(63).optional() }),
      {
        cel: "self.kind == 'DataSource'",
        message: 'Unsupported sourceRef kind, currently only DataSource is supported',
      },
    )
      .optional()
      .describe('A DataSource, which says what is in it.'),
    storage: storage
      .optional()
      .describe('What the PersistentVolumeClaim is to be. What it leaves out is filled in from the StorageProfile.'),
  }),
  {
    // CDI moves the checkpoints of an import on.
    cel: 'self == oldSelf || (has(oldSelf.source) && (has(oldSelf.source.vddk) || has(oldSelf.source.imageio)) && has(self.source) && self.source == oldSelf.source)',
    message: 'Cannot update DataVolume Spec',
  },
  {
    cel: 'has(self.pvc) || has(self.storage)',
    message: 'Missing Data volume PVC',
  },
  {
    cel: '!has(self.pvc) || !has(self.storage)',
    message: 'Duplicate storage definition, both target storage and target pvc defined',
  },
  {
    cel:
      '(has(self.source) != has(self.sourceRef)) || (!has(self.source) && !has(self.sourceRef) && ' +
      '((has(self.pvc) && (has(self.pvc.dataSource) || has(self.pvc.dataSourceRef))) || ' +
      '(has(self.storage) && (has(self.storage.dataSource) || has(self.storage.dataSourceRef)))))',
    message: 'Data volume should have either Source or SourceRef, or be externally populated',
  },
  {
    cel:
      "!has(self.storage) || (has(self.storage.resources) && has(self.storage.resources.requests) && 'storage' in self.storage.resources.requests) || " +
      'has(self.sourceRef) || (has(self.source) && (has(self.source.pvc) || has(self.source.snapshot)))',
    message: 'Storage size is missing',
  },
  {
    cel: "!has(self.contentType) || self.contentType != 'archive' || !has(self.source) || !has(self.source.blank)",
    message: 'SourceType cannot be blank and the contentType be archive',
  },
  {
    cel:
      "!has(self.contentType) || self.contentType != 'archive' || !(has(self.pvc) && has(self.pvc.volumeMode) && self.pvc.volumeMode == 'Block' || " +
      "has(self.storage) && has(self.storage.volumeMode) && self.storage.volumeMode == 'Block')",
    message: 'ContentType archive is not supported with volumeMode Block',
  },
);

/** As CDI writes them: with the time of the last change of any kind, and without a generation. */
export const cdiConditions = () =>
  listMap(
    ['type'],
    z.object({
      type: z.string(),
      status: z.enum(['True', 'False', 'Unknown']),
      lastHeartbeatTime: time().optional(),
      lastTransitionTime: time().optional(),
      message: z.string().optional(),
      reason: z.string().optional(),
    }),
  );

const status = z.object({
  claimName: z.string().optional().describe('The PersistentVolumeClaim.'),
  conditions: cdiConditions().optional(),
  phase: z.string().optional(),
  progress: z.string().optional().describe('`N/A`, `12.34%`.'),
  restartCount: int32().optional(),
});

export const dataVolumeSchema = customResource('cdi.kubevirt.io/v1beta1', 'DataVolume', {
  spec,
  status: status.optional(),
});

/** A volume with what shall be in it (docs/data-volumes.md). */
export type DataVolume = z.output<typeof dataVolumeSchema>;

export const dataVolumeCrd: CrdBody = {
  shortNames: ['dv', 'dvs'],
  categories: ['all'],
  description: 'A volume with what shall be in it: the clone of another one, mostly.',
  schema: dataVolumeSchema,
  printColumns: [
    { name: 'Phase', type: 'string', jsonPath: '.status.phase' },
    { name: 'Progress', type: 'string', jsonPath: '.status.progress' },
    { name: 'Restarts', type: 'integer', jsonPath: '.status.restartCount' },
    { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
  ],
};
