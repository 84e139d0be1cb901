import { type ObjectAccess, objectAccess, type ObjectCalls } from '../command/object-access.ts';
import type { VolumeObject } from './volume-object.ts';
import { shownVolumes } from './volume-objects.ts';

/** DataVolumes as commands use them. */
export const volumeAccess = (kubernetes: ObjectCalls, abort: AbortSignal): ObjectAccess<VolumeObject> =>
  objectAccess(kubernetes, { noun: 'dv', resource: shownVolumes }, abort);
