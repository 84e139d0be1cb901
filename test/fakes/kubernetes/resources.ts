import type { CustomResourceDefinition } from '../../../contracts/crds/custom-resource-definition.ts';
import type { StructuralSchema } from '../../../contracts/crds/structural-schema.ts';
import type { FieldError } from './refusal.ts';
import type { Draft, StoredObject } from './stored-object.ts';
import {
  admitClaim,
  admitStorageClass,
  admitVolume,
  validateClaim,
  validateClaimChange,
  validateVolumeChange,
} from './volume-kinds.ts';
import { withVirtualMachineDefaults } from './virtual-machine-defaults.ts';
import { validateEvent } from './validate-event.ts';

/** A kind that is served, and how kube-apiserver treats it. */
export interface Resource {
  /** Empty for the core group. */
  group: string;
  version: string;
  kind: string;
  plural: string;
  isNamespaced: boolean;
  /** Null for what is part of kube-apiserver: it is neither pruned nor validated here. */
  schema: StructuralSchema | null;
  /** Where lists are merged by key, for the bookkeeping of who owns which field. */
  mergeSchema: StructuralSchema;
  hasStatus: boolean;
  /** A status that is given when the object is made is kept. */
  keepsGivenStatus: boolean;
  hasGeneration: boolean;
  /** A PUT without a resourceVersion is taken. */
  allowsUnconditionalUpdate: boolean;
  /** A PUT on a name that is free makes the object. */
  allowsCreateOnUpdate: boolean;
  /** What is made of an object that is written, before anything else. */
  normalize(object: Draft): Draft;
  /** What admission and the strategy make of a new object. */
  admit(object: Draft): Draft;
  /** What is wrong with an object, of what is built in. */
  validate(object: Draft): FieldError[];
  /** What is wrong with a change, of what is built in. */
  validateChange(live: StoredObject, next: Draft): FieldError[];
  /** What a field selector may name besides metadata.name and metadata.namespace. */
  selectableFields: readonly string[];
}

const listMap = (...keys: string[]): StructuralSchema => ({
  type: 'array',
  'x-kubernetes-list-type': 'map',
  'x-kubernetes-list-map-keys': keys,
});
const listSet: StructuralSchema = { type: 'array', 'x-kubernetes-list-type': 'set' };
const object = (properties: Record<string, StructuralSchema>): StructuralSchema => ({ type: 'object', properties });

/** `metav1.ObjectMeta`, as far as its lists go. */
const metadata = object({ finalizers: listSet, ownerReferences: listMap('uid') });

const conditions = object({ conditions: listMap('type') });

type BuiltIn = Pick<Resource, 'kind' | 'plural'> &
  Partial<Omit<Resource, 'mergeSchema'>> & { merge?: Record<string, StructuralSchema> };

const builtIn = ({ merge = {}, ...given }: BuiltIn): Resource => ({
  group: '',
  version: 'v1',
  isNamespaced: true,
  schema: null,
  mergeSchema: object({ ...merge, metadata }),
  hasStatus: false,
  keepsGivenStatus: false,
  hasGeneration: false,
  allowsUnconditionalUpdate: true,
  allowsCreateOnUpdate: false,
  selectableFields: [],
  normalize: (written) => written,
  admit: (made) => made,
  validate: () => [],
  validateChange: () => [],
  ...given,
});

/** A Node is not ready until the node lifecycle controller says so; the lab runs none. */
function withTaint(made: Draft): Draft {
  const { taints = [], ...spec } = (made['spec'] ?? {}) as { taints?: { key: string }[] };
  const notReady = { key: 'node.kubernetes.io/not-ready', effect: 'NoSchedule' };
  const isThere = taints.some(({ key }) => key === notReady.key);
  return { ...made, spec: { ...spec, taints: isThere ? taints : [...taints, notReady] } };
}

/** `stringData` of a Secret is for writing alone. */
function withData({ stringData, ...secret }: Draft): Draft {
  const texts = Object.entries((stringData ?? {}) as Record<string, string>);
  if (texts.length === 0) return secret;
  const data = Object.fromEntries(texts.map(([key, text]) => [key, Buffer.from(text).toString('base64')]));
  return { ...secret, data: { ...(secret['data'] as object | undefined), ...data } };
}

const referenceFields = (field: string): string[] =>
  ['kind', 'name', 'namespace', 'uid'].map((part) => `${field}.${part}`);

const taintEffects = ['NoSchedule', 'PreferNoSchedule', 'NoExecute'];

function validateTaints({ spec }: Draft): FieldError[] {
  const { taints = [] } = (spec ?? {}) as { taints?: { effect?: string }[] };
  return taints.flatMap(({ effect = '' }, index): FieldError[] => {
    if (taintEffects.includes(effect)) return [];
    const message = `Unsupported value: "${effect}": supported values: ${taintEffects.map((one) => `"${one}"`).join(', ')}`;
    return [{ reason: 'FieldValueNotSupported', field: `metadata.taints[${index}].effect`, message }];
  });
}

/**
 * What kube-apiserver serves by itself, as far as drover and its tests use it. Source: the
 * strategies in kubernetes/pkg/registry.
 */
export const builtInResources: readonly Resource[] = [
  builtIn({
    kind: 'Namespace',
    plural: 'namespaces',
    isNamespaced: false,
    hasStatus: true,
    admit: (made) => ({ ...made, spec: { finalizers: ['kubernetes'] }, status: { phase: 'Active' } }),
    merge: { spec: object({ finalizers: listSet }), status: conditions },
  }),
  builtIn({
    kind: 'Node',
    plural: 'nodes',
    isNamespaced: false,
    hasStatus: true,
    keepsGivenStatus: true,
    admit: withTaint,
    validate: validateTaints,
    selectableFields: ['spec.unschedulable'],
    merge: {
      spec: object({ podCIDRs: listSet }),
      status: object({ conditions: listMap('type'), addresses: listMap('type') }),
    },
  }),
  builtIn({
    kind: 'Pod',
    plural: 'pods',
    hasStatus: true,
    hasGeneration: true,
    selectableFields: [
      'spec.nodeName',
      'spec.restartPolicy',
      'spec.schedulerName',
      'spec.serviceAccountName',
      'spec.hostNetwork',
      'status.phase',
      'status.podIP',
      'status.nominatedNodeName',
    ],
    merge: { spec: object({ containers: listMap('name'), volumes: listMap('name') }), status: conditions },
  }),
  builtIn({ kind: 'ConfigMap', plural: 'configmaps' }),
  builtIn({ kind: 'Secret', plural: 'secrets', selectableFields: ['type'], normalize: withData }),
  builtIn({ kind: 'ServiceAccount', plural: 'serviceaccounts' }),
  builtIn({ kind: 'ResourceQuota', plural: 'resourcequotas', hasStatus: true }),
  builtIn({
    kind: 'PersistentVolumeClaim',
    plural: 'persistentvolumeclaims',
    hasStatus: true,
    admit: admitClaim,
    validate: validateClaim,
    validateChange: validateClaimChange,
    merge: { status: conditions },
  }),
  builtIn({
    kind: 'PersistentVolume',
    plural: 'persistentvolumes',
    isNamespaced: false,
    hasStatus: true,
    admit: admitVolume,
    validateChange: validateVolumeChange,
  }),
  builtIn({ group: 'rbac.authorization.k8s.io', kind: 'RoleBinding', plural: 'rolebindings' }),
  builtIn({
    group: 'storage.k8s.io',
    kind: 'StorageClass',
    plural: 'storageclasses',
    isNamespaced: false,
    admit: admitStorageClass,
  }),
  builtIn({ group: 'storage.k8s.io', kind: 'CSIDriver', plural: 'csidrivers', isNamespaced: false }),
  builtIn({
    group: 'batch',
    kind: 'Job',
    plural: 'jobs',
    hasStatus: true,
    hasGeneration: true,
    merge: { status: conditions },
  }),
  builtIn({
    group: 'admissionregistration.k8s.io',
    kind: 'ValidatingAdmissionPolicy',
    plural: 'validatingadmissionpolicies',
    isNamespaced: false,
    hasStatus: true,
    hasGeneration: true,
  }),
  builtIn({
    group: 'admissionregistration.k8s.io',
    kind: 'ValidatingAdmissionPolicyBinding',
    plural: 'validatingadmissionpolicybindings',
    isNamespaced: false,
    hasGeneration: true,
  }),
  builtIn({
    group: 'coordination.k8s.io',
    kind: 'Lease',
    plural: 'leases',
    allowsUnconditionalUpdate: false,
    allowsCreateOnUpdate: true,
  }),
  builtIn({
    group: 'events.k8s.io',
    kind: 'Event',
    plural: 'events',
    validate: validateEvent,
    merge: { regarding: { 'x-kubernetes-map-type': 'atomic' } },
    allowsCreateOnUpdate: true,
    selectableFields: ['reason', 'reportingController', 'source', 'type', ...referenceFields('regarding')],
  }),
  // After the other, which is meant where only the plural is named.
  builtIn({
    kind: 'Event',
    plural: 'events',
    allowsCreateOnUpdate: true,
    merge: { involvedObject: { 'x-kubernetes-map-type': 'atomic' } },
    selectableFields: ['reason', 'reportingComponent', 'source', 'type', ...referenceFields('involvedObject')],
  }),
  builtIn({
    group: 'policy',
    kind: 'PodDisruptionBudget',
    plural: 'poddisruptionbudgets',
    hasStatus: true,
    hasGeneration: true,
    allowsUnconditionalUpdate: false,
    merge: { status: conditions },
  }),
  builtIn({
    group: 'apps',
    kind: 'Deployment',
    plural: 'deployments',
    hasStatus: true,
    hasGeneration: true,
    merge: { status: conditions },
  }),
  builtIn({
    group: 'apiextensions.k8s.io',
    kind: 'CustomResourceDefinition',
    plural: 'customresourcedefinitions',
    isNamespaced: false,
    hasStatus: true,
    hasGeneration: true,
    allowsUnconditionalUpdate: false,
  }),
];

/** The kind that a CustomResourceDefinition defines, in its only version. */
export function customResource({ spec }: Pick<CustomResourceDefinition, 'spec'>): Resource {
  const [version] = spec.versions;
  if (version === undefined) throw new Error(`${spec.names.plural}.${spec.group} has no version`);
  const schema = version.schema.openAPIV3Schema;
  return {
    group: spec.group,
    version: version.name,
    kind: spec.names.kind,
    plural: spec.names.plural,
    isNamespaced: spec.scope === 'Namespaced',
    schema,
    mergeSchema: { ...schema, properties: { ...schema.properties, metadata } },
    hasStatus: 'subresources' in version && 'status' in version.subresources,
    keepsGivenStatus: false,
    hasGeneration: true,
    allowsUnconditionalUpdate: false,
    allowsCreateOnUpdate: false,
    selectableFields: [],
    normalize: (written) => written,
    admit: spec.names.kind === 'VirtualMachine' ? withVirtualMachineDefaults : (made) => made,
    validate: () => [],
    validateChange: () => [],
  };
}

export const apiVersionOf = ({ group, version }: Pick<Resource, 'group' | 'version'>): string =>
  group === '' ? version : `${group}/${version}`;
