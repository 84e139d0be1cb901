import type { CommandContext } from '../command/context.ts';
import { fullName, type ObjectReference } from '../command/object-reference.ts';
import { retryObject } from '../command/retry-object.ts';
import { problemOf } from './listed-clone.ts';
import { volumeAccess } from './volume-access.ts';

/** `drover retry dv`. One that was given up is begun anew. */
export const retryVolume = (context: CommandContext, reference: ObjectReference, by: string): Promise<void> =>
  retryObject(
    context,
    {
      noun: 'dv',
      access: volumeAccess,
      standing(volume) {
        const { phase } = volume;
        return problemOf(volume) ?? (phase === '' ? undefined : { reason: phase, message: 'it waits for nothing' });
      },
      shows: (volume) => `drover describe dv ${fullName(volume)}`,
    },
    reference,
    by,
  );
