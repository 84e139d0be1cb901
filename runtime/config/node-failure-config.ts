import { z } from 'zod';

import { fencingDefaults } from '../../contracts/node-failure/fencing.ts';
import type { HandlingSettings } from '../../contracts/node-failure/activities.ts';
import {
  gateDefaults,
  nodeFailureDefaults,
  silenceBounds,
  silenceDefaults,
} from '../../contracts/node-failure/node-failure.ts';
import { count, hour, minute, ms, second, text } from './setting-types.ts';

/**
 * The section `nodeFailure` of drover's settings: off unless it is set. How BMCs are reached stands here too; their
 * password stands in a file, such as a mounted Secret, and is read when it is used.
 */

const httpsUrl = z
  .string()
  .regex(/^https:\/\/[^\s/@]+(\/[^\s@]*)?$/u, 'expected an https URL, without a user or a password');

const bmc = z.strictObject({
  /** Of every host that has none of its own; `{host}` stands for the Hypervisor's name. */
  url: httpsUrl
    .refine((value) => value.includes('{host}'), 'expected {host} in it, which stands for the hypervisor')
    .nullable()
    .default(null),
  hosts: z
    .record(
      text,
      z.strictObject({
        url: httpsUrl.optional(),
        path: text.optional(),
        uuid: text.optional(),
        serial: text.optional(),
      }),
    )
    .default({}),
  username: text,
  /** `{host}` in it stands for the Hypervisor's name, where each BMC has a password of its own. */
  passwordFile: text,
  caFile: text.nullable().default(null),
  auth: z.enum(['basic', 'session']).default('session'),
});

export type BmcConfig = z.infer<typeof bmc>;

/** One connection to the libvirt of every hypervisor is kept open: so it has to be asked for. */
const guestEvents = z.strictObject({
  /** Runs among which the hypervisors are divided, and how many one of them watches at most. */
  shards: count(1, 100),
  mostHosts: count(500, 2_000),
  windowMs: ms(10 * minute),
  ioErrors: count(3, 1_000),
  failingGuests: count(2, 1_000),
  mostFailingHosts: count(2, 1_000),
  verifyAfterMs: ms(minute, { most: hour }),
  observeMs: ms(5 * second, { most: minute }),
});

const { exclusions } = fencingDefaults;

/** A host that has power may run its guests: so that drover powers it off by itself has to be asked for. */
const fenceSilent = z.strictObject({
  quorum: z.int().min(silenceBounds.leastQuorum).max(silenceBounds.mostQuorum).default(silenceDefaults.quorum),
  afterMs: ms(silenceDefaults.afterMs),
  mostPerHour: count(silenceDefaults.mostPerHour, 20),
});

export const nodeFailureConfig = z
  .strictObject({
    mode: z.enum(['off', 'recommend', 'automatic']).default('off'),
    automaticAggregates: z.array(text).default([]),
    failureDomainLabel: text.default('kubernetes.metal.cloud.sap/bb'),
    failAfterMs: ms(nodeFailureDefaults.failAfterMs),
    witnessMaxAgeMs: ms(nodeFailureDefaults.witnessMaxAgeMs, { most: hour }),
    observeMs: ms(15 * second, { most: hour }),
    restObserveMs: ms(minute, { most: hour }),
    publishMinMs: ms(2 * second, { most: hour }),
    gates: z
      .strictObject({
        domainWindowMs: ms(gateDefaults.domainWindowMs),
        cycleMs: ms(gateDefaults.cycleMs),
        mostFencedPerAggregate: count(gateDefaults.mostFencedPerAggregate, 100),
      })
      .prefault({}),
    power: z
      .strictObject({
        recheckMs: ms(fencingDefaults.powerRecheckMs, { most: hour }),
        holdCheckMs: ms(fencingDefaults.holdCheckMs, { most: hour }),
        pollMs: ms(2 * second, { most: minute }),
        timeoutMs: ms(minute, { most: hour }),
      })
      .prefault({}),
    fenceSilent: fenceSilent.nullable().default(null),
    consentMs: ms(fencingDefaults.consentMs),
    evacuation: z
      .strictObject({
        parallelism: count(fencingDefaults.parallelism, 64),
        maxAttempts: count(fencingDefaults.maxAttempts, 20),
        retryMs: ms(fencingDefaults.retryMs, { most: hour }),
        deadlineMs: ms(30 * minute),
        excludedImageIds: z.array(text).default(exclusions.imageIds),
        excludedMetadata: z.array(text).default(exclusions.metadata),
      })
      .prefault({}),
    bmc: bmc.nullable().default(null),
    guestEvents: guestEvents.nullable().default(null),
  })
  .prefault({})
  .refine(({ mode, automaticAggregates }) => mode !== 'automatic' || automaticAggregates.length > 0, {
    path: ['automaticAggregates'],
    error: 'expected the aggregates that have opted in, or nodeFailure.mode: recommend',
  })
  .refine(
    ({ mode, fenceSilent: wanted, bmc: reached }) => wanted === null || (mode === 'automatic' && reached !== null),
    {
      path: ['fenceSilent'],
      error: 'expected nodeFailure.mode: automatic and nodeFailure.bmc, without which no host is powered off',
    },
  )
  .refine(({ fenceSilent: wanted, failAfterMs }) => wanted === null || wanted.afterMs >= failAfterMs, {
    path: ['fenceSilent', 'afterMs'],
    error: 'expected at least nodeFailure.failAfterMs',
  });

export type NodeFailureConfig = z.infer<typeof nodeFailureConfig>;

/** How often an evacuation is observed. */
const poll = { minMs: 500, maxMs: 5_000 };

/** The settings of one run, renewed with each observation: no names of files, no addresses. */
export function handlingSettings(config: NodeFailureConfig, region: string): HandlingSettings {
  const { failAfterMs, witnessMaxAgeMs, observeMs, restObserveMs, publishMinMs, gates, power, consentMs, evacuation } =
    config;
  const { parallelism, maxAttempts, retryMs, deadlineMs, excludedImageIds, excludedMetadata } = evacuation;
  return {
    region,
    judging: { failAfterMs, witnessMaxAgeMs },
    gates,
    silence: config.fenceSilent,
    fencing: {
      powerRecheckMs: power.recheckMs,
      consentMs,
      holdCheckMs: power.holdCheckMs,
      parallelism,
      maxAttempts,
      retryMs,
      exclusions: { imageIds: excludedImageIds, imageTags: exclusions.imageTags, metadata: excludedMetadata },
    },
    observeMs,
    restObserveMs,
    publishMinMs,
    power: { pollMs: power.pollMs, timeoutMs: power.timeoutMs },
    evacuation: { deadlineMs, poll },
  };
}
