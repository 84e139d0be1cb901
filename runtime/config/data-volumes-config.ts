import { z } from 'zod';

import type { VolumeRules } from '../../contracts/data-volume/data-volume.ts';
import { outcomes, strategies } from '../../contracts/data-volume/metadata.ts';
import { count, day, dnsName, hour, minute, ms, optionalText, second } from './setting-types.ts';

/** The section `dataVolumes` of drover's settings (docs/data-volumes.md#settings). */

/** A part of one. */
const share = z.number().min(0).max(1);

export const dataVolumesConfig = z
  .strictObject({
    namespaces: z.array(dnsName.max(63)).default([]),
    shareSnapshots: z.boolean().default(true),
    sourceIntervalMs: ms(3 * second, { least: 0, most: hour }),
    snapshotsPerSource: count(10, 400),
    concurrentPerDriver: count(20, 1_000),
    deadlineMs: ms(15 * minute, { least: 100, most: day }),
    onDeadline: z.enum(outcomes).default('wait'),
    crashConsistent: z.boolean().default(false),
    copyImage: optionalText,
    strategyOverride: z.enum(strategies).nullable().default(null),
    adoptClaims: z.boolean().default(false),
    filesystemOverhead: z
      .strictObject({ default: share.default(0.06), classes: z.record(z.string(), share).default({}) })
      .prefault({}),
    policyDelayMs: ms(10 * second, { least: 0, most: hour }),
    recheckMs: ms(10 * minute, { most: hour }),
    slotRenewMs: ms(minute, { most: hour }),
    lingerMs: ms(0, { least: 0, most: minute }),
    publishMinMs: ms(0, { least: 0, most: minute }),
  })
  .prefault({});

export type DataVolumesConfig = z.infer<typeof dataVolumesConfig>;

/** What a run decides by. */
export const volumeRules = ({
  shareSnapshots,
  sourceIntervalMs,
  snapshotsPerSource,
  deadlineMs,
  onDeadline,
  crashConsistent,
  copyImage,
  strategyOverride,
  adoptClaims,
}: DataVolumesConfig): VolumeRules => ({
  shareSnapshots,
  sourceIntervalMs,
  snapshotsPerSource,
  deadlineMs,
  onDeadline,
  crashConsistent,
  copyImage,
  strategyOverride,
  adoptClaims,
});
