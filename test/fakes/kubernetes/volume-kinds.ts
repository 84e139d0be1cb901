import { isDeepStrictEqual } from 'node:util';
import { quantityOf } from '../../../contracts/quantity.ts';
import { isFields, without, type Fields } from './field-set.ts';
import type { FieldError } from './refusal.ts';
import type { Draft, StoredObject } from './stored-object.ts';

/**
 * What kube-apiserver makes of volumes and claims. Source: kubernetes/pkg/registry/core,
 * pkg/apis/core/{v1/defaults,validation}.go, and the plug-in StorageObjectInUseProtection.
 */

const claimFinalizer = 'kubernetes.io/pvc-protection';
const volumeFinalizer = 'kubernetes.io/pv-protection';

const specOf = (object: Draft | StoredObject): Fields => (isFields(object['spec']) ? object['spec'] : {});

function held<Object extends Draft>(object: Object, finalizer: string): Object {
  const { finalizers = [] } = object.metadata;
  if (finalizers.includes(finalizer)) return object;
  return { ...object, metadata: { ...object.metadata, finalizers: [...finalizers, finalizer] } };
}

/** A source that is named one way is named the other way too, where it may be. Their group is always there. */
function withDataSource(given: Fields): Fields {
  const grouped = (name: string): Fields =>
    isFields(given[name]) ? { [name]: { apiGroup: null, ...given[name] } } : {};
  const spec: Fields = { ...given, ...grouped('dataSource'), ...grouped('dataSourceRef') };
  const { dataSource, dataSourceRef } = spec;
  if (dataSource !== undefined && dataSourceRef === undefined) return { ...spec, dataSourceRef: dataSource };
  if (dataSource !== undefined || !isFields(dataSourceRef) || dataSourceRef['namespace'] !== undefined) return spec;
  return { ...spec, dataSource: dataSourceRef };
}

export const admitClaim = (made: Draft): Draft =>
  held(
    { ...made, spec: withDataSource({ volumeMode: 'Filesystem', ...specOf(made) }), status: { phase: 'Pending' } },
    claimFinalizer,
  );

export const admitVolume = (made: Draft): Draft =>
  held(
    {
      ...made,
      spec: { volumeMode: 'Filesystem', persistentVolumeReclaimPolicy: 'Retain', ...specOf(made) },
      status: { phase: 'Pending' },
    },
    volumeFinalizer,
  );

export const admitStorageClass = (made: Draft): Draft => ({
  reclaimPolicy: 'Delete',
  volumeBindingMode: 'Immediate',
  ...made,
});

const required = (field: string, message = 'Required value'): FieldError => ({
  reason: 'FieldValueRequired',
  field,
  message,
});

export const requestOf = (claim: Draft | StoredObject): string | undefined =>
  (specOf(claim) as { resources?: { requests?: { storage?: string } } }).resources?.requests?.storage;

export function validateClaim(claim: Draft): FieldError[] {
  const { accessModes } = specOf(claim);
  const bytes = quantityOf(requestOf(claim) ?? '');
  return [
    ...(Array.isArray(accessModes) && accessModes.length > 0
      ? []
      : [required('spec.accessModes', 'Required value: at least 1 access mode is required')]),
    ...(requestOf(claim) === undefined ? [required('spec.resources[storage]')] : []),
    ...(bytes !== null && bytes <= 0
      ? [
          {
            reason: 'FieldValueInvalid',
            field: 'spec.resources[storage]',
            message: `Invalid value: "${requestOf(claim)}": must be greater than zero`,
          } as const,
        ]
      : []),
  ];
}

const forbidden = (field: string, words: string): FieldError => ({
  reason: 'FieldValueForbidden',
  field,
  message: `Forbidden: ${words}`,
});

const capacityOf = ({ status }: StoredObject): string | undefined =>
  (status as { capacity?: { storage?: string } } | undefined)?.capacity?.storage;

const withoutRequest = (spec: Fields): Fields => {
  const { resources } = spec as { resources?: { requests?: Fields } };
  return { ...spec, resources: { ...resources, requests: without(resources?.requests ?? {}, 'storage') } };
};

/** A claim is what it was; its volume and its class are named once, and it grows while it is bound. */
export function validateClaimChange(live: StoredObject, next: Draft): FieldError[] {
  const isBound = (live['status'] as { phase?: string } | undefined)?.phase === 'Bound';
  const before = specOf(live);
  const after = specOf(next);
  const same = (spec: Fields): Fields => {
    const once = ['volumeName', 'storageClassName'].filter((name) => (before[name] ?? '') === '');
    const kept = without(spec, ...once);
    return isBound ? withoutRequest(kept) : kept;
  };
  const requested = quantityOf(requestOf(next) ?? '') ?? 0;
  const shrinks = requested < (quantityOf(requestOf(live) ?? '') ?? 0);
  return [
    ...(isDeepStrictEqual(same(before), same(after))
      ? []
      : [
          forbidden(
            'spec',
            'spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims',
          ),
        ]),
    ...(shrinks && requested <= (quantityOf(capacityOf(live) ?? '') ?? 0)
      ? [forbidden('spec.resources.requests.storage', 'field can not be less than status.capacity')]
      : []),
  ];
}

export function validateVolumeChange(live: StoredObject, next: Draft): FieldError[] {
  const before = specOf(live);
  const after = specOf(next);
  return [
    ...(isDeepStrictEqual(before['csi'], after['csi'])
      ? []
      : [forbidden('spec.persistentvolumesource', 'spec.persistentvolumesource is immutable after creation')]),
    ...(before['volumeMode'] === after['volumeMode']
      ? []
      : [
          {
            reason: 'FieldValueInvalid',
            field: 'volumeMode',
            message: `Invalid value: ${JSON.stringify(after['volumeMode'] ?? null)}: field is immutable`,
          } as const,
        ]),
  ];
}
