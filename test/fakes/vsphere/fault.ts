import type { VimFault } from '../../../activities/vsphere/wire/decode.ts';
import type { ManagedObjectReference } from '../../../activities/vsphere/wire/values.ts';

/** A fault of vim25, as a vCenter answers a call or ends a task with it. */
export class VsphereFault extends Error {
  readonly type: string;
  readonly fields: Readonly<Record<string, unknown>>;

  /** @param type as in vim25: `DuplicateName`. @param fields its own */
  constructor(type: string, fields: Readonly<Record<string, unknown>> = {}) {
    super(`${type} ${JSON.stringify(fields)}`);
    this.type = type;
    this.fields = fields;
  }
}

export const toVimFault = ({ type, fields }: VsphereFault): VimFault => ({ type, words: '', fields });

export const notFound = (obj: ManagedObjectReference): VsphereFault =>
  new VsphereFault('ManagedObjectNotFound', { obj });

export const invalidArgument = (invalidProperty: string): VsphereFault =>
  new VsphereFault('InvalidArgument', { invalidProperty });
