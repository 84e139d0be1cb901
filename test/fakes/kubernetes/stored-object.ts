export interface ObjectMetadata {
  name: string;
  namespace?: string;
  uid: string;
  resourceVersion: string;
  creationTimestamp: string;
  generation?: number;
  deletionTimestamp?: string;
  deletionGracePeriodSeconds?: number;
  labels?: Record<string, string>;
  annotations?: Record<string, string>;
  finalizers?: string[];
  ownerReferences?: {
    apiVersion: string;
    kind: string;
    name: string;
    uid: string;
    controller?: boolean;
    blockOwnerDeletion?: boolean;
  }[];
  managedFields?: object[];
}

/** An object as it is stored. Never changed: another version is another object. */
export interface StoredObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: Readonly<ObjectMetadata>;
  readonly [field: string]: unknown;
}

/** An object before it is stored: with everything but its version. */
export type Draft = Omit<StoredObject, 'metadata'> & { metadata: Omit<ObjectMetadata, 'resourceVersion'> };
