import type { ObjectDescription } from '../command/describe-object.ts';
import type { VolumeObject, VolumeParts, VolumeProgress } from './volume-object.ts';

/** Everything that is known of a DataVolume; also the JSON of `drover describe dv --json`. */
export interface VolumeDescription extends ObjectDescription<VolumeObject, VolumeProgress>, VolumeParts {}
