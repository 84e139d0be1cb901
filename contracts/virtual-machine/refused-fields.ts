/**
 * What the definitions accept, as upstream's do, and drover does not do. One row for each: who implements a field
 * removes its row here, and says in contracts/crds/fields/ where it is read. Asked for all the same, a new VM is not
 * made, one that is there says so when all else is done (condition `SpecSupported`), and drover's own
 * CustomResourceDefinition refuses it.
 */
export interface RefusedField {
  /** Completes `drover does not …`. */
  not: string;
  /** Values that ask for nothing; where there are none, whatever is set asks for something. */
  harmless: readonly (string | number | boolean)[];
}

export type RefusedFields = Readonly<Record<string, RefusedField>>;

const does = (not: string, ...harmless: RefusedField['harmless']): RefusedField => ({ not, harmless });

/** Below `spec` of a VirtualMachine; `[]` is each item of a list. */
export const refusedFields: RefusedFields = {
  affinity: does('place VMs by affinity: name a cluster module of a VirtualMachineSetResourcePolicy, or a zone'),
  class: does('apply instances of classes: className alone says the size'),
  'crypto.encryptionClassName': does('encrypt VMs'),
  'crypto.vTPMMode': does('clone a vTPM', 'New'),
  currentSnapshotName: does('revert to snapshots'),
  'network.interfaces[].ipamModes': does('choose how addresses are given out'),
  volumeAttributesClassName: does('set attributes of volumes: name the class in the PersistentVolumeClaim'),
  'volumes[].persistentVolumeClaim.readOnly': does('attach volumes that are only read', false),
  'volumes[].removable': does('keep volumes from being removed', true),
};

/** What a spec asks for and drover does not do, as sentences; none: nothing. Pure. */
export const refusedIn = (spec: object, fields: RefusedFields = refusedFields): string[] =>
  Object.entries(fields).flatMap(([path, { not, harmless }]) =>
    valuesAt(spec, path.split('.')).some((value) => isAskedFor(value, harmless))
      ? [`spec.${path}: drover does not ${not}`]
      : [],
  );

function valuesAt(value: unknown, [step, ...below]: readonly string[]): unknown[] {
  if (step === undefined) return [value];
  if (typeof value !== 'object' || value === null) return [];
  const isList = step.endsWith('[]');
  const next = (value as Record<string, unknown>)[isList ? step.slice(0, -2) : step];
  const items: unknown[] = isList ? (Array.isArray(next) ? next : []) : [next];
  return items.flatMap((item) => valuesAt(item, below));
}

function isAskedFor(value: unknown, harmless: RefusedField['harmless']): boolean {
  if (value === undefined || value === null || value === '') return false;
  if (Array.isArray(value)) return value.length > 0;
  if (typeof value === 'object') return Object.values(value).some((one) => isAskedFor(one, []));
  return !(harmless as readonly unknown[]).includes(value);
}
