import type { CommandContext } from '../command/context.ts';
import { describeObject } from '../command/describe-object.ts';
import type { ObjectReference } from '../command/object-reference.ts';
import { renderVolume } from '../render/data-volume.ts';
import { volumeAccess } from './volume-access.ts';
import type { VolumeDescription } from './volume-description.ts';
import type { VolumeObject, VolumeProgress } from './volume-object.ts';
import { readParts } from './volume-parts.ts';

/** `drover describe dv`. */
export const describeVolume = (context: CommandContext, reference: ObjectReference, json: boolean): Promise<void> =>
  describeObject<VolumeObject, VolumeProgress, VolumeDescription>(
    context,
    {
      kind: 'DataVolume',
      heldBy: ['DataVolume'],
      access: volumeAccess,
      async complete(description, { kubernetes, abort }) {
        const { object } = description;
        if (object === null) return { ...description, claim: null, temporary: null, events: null };
        const { parts, problems } = await readParts(kubernetes, object, abort);
        return { ...description, ...parts, problems: [...description.problems, ...problems] };
      },
      render: renderVolume,
    },
    reference,
    json,
  );
