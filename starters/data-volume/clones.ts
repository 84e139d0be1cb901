import type { Command } from 'commander';
import { describedCommand } from '../command/command.ts';
import type { CommandContext } from '../command/context.ts';
import { type Listing, listing, type ListOptions } from '../command/list-objects.ts';
import { renderClones } from '../render/data-volume.ts';
import { type ListedClone, listClones } from './listed-clone.ts';
import { volumeAccess } from './volume-access.ts';
import type { VolumeObject } from './volume-object.ts';

const clones: Listing<VolumeObject, ListedClone, ListOptions> = {
  noun: 'dv',
  list: (kubernetes, namespace, abort) => volumeAccess(kubernetes, abort).list(namespace),
  rows: (objects, { attention = false }, nowMs) => listClones(objects, { attention }, nowMs),
  render: renderClones,
};

export const clonesCommand = (context: CommandContext): Command =>
  listing(
    context,
    describedCommand(
      'clones',
      'Lists DataVolumes: how far each is, what it is made from and how, its size, and what it waits for. Those that need attention come first, marked with "!".',
      [
        ['drover clones', 'all of them'],
        ['drover clones -n team --attention', 'those of a namespace that need a user'],
        ['drover describe dv team/disk', 'one of them: what was chosen and why, its snapshot, its Events'],
        ['drover retry dv team/disk', 'observe one now, or begin one anew that was given up'],
        [
          `drover clones --json | jq -r '.[] | select(.status == "waiting") | .namespace + "/" + .name'`,
          'for programs',
        ],
      ],
    ),
    clones,
  ).addCommand(
    listing(
      context,
      describedCommand('ls', 'Does the same as `drover clones` alone.', [['drover clones ls', 'all of them']]),
      clones,
    ),
  );
