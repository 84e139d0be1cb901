import { z } from 'zod';

import type { AgentPoolRules } from '../../contracts/agent-pool/agent-pool.ts';
import { count, day, dnsName, hour, minute, ms, optionalText, splitHostPort, text } from './setting-types.ts';

/** The section `agentPools` of drover's settings (docs/agent-pools.md#settings). */

const percent = z.int().min(0).max(100);
const gibibyte = 1024 ** 3;

const lowerCaseHost = /^(\[[0-9a-f:.]+\]|[a-z0-9]([-a-z0-9.]*[a-z0-9])?)(:\d+)?$/u;

/** A host of URLs, with its port where that is not the scheme's. */
const host = text.refine(
  (value) => lowerCaseHost.test(value) && splitHostPort(value) !== null,
  'expected a host in lower case, such as images.example.com or images.example.com:8443',
);

export const agentPoolsConfig = z
  .strictObject({
    namespaces: z.array(dnsName.max(63)).default([]),
    discoveryMs: ms(30 * minute, { least: 100 }),
    maxAgents: count(100, 10_000),
    maxConcurrent: count(20, 1_000),
    deleteSurplus: z.boolean().default(false),
    surplusMs: ms(10 * minute, { least: 0 }),
    replacementsPerHour: count(5, 10_000),
    approveAbove: z.int().min(0).max(10_000).default(1),
    approveAbovePercent: percent.default(10),
    pinSelectors: z.boolean().default(false),
    driftedAtOnce: count(1, 1_000),
    freeSpacePercent: percent.default(10),
    iso: z
      .strictObject({
        hosts: z.array(host).default([]),
        caFile: optionalText,
        directory: optionalText,
        maxBytes: z
          .int()
          .min(1)
          .max(64 * gibibyte)
          .default(8 * gibibyte),
        timeoutMs: ms(30 * minute, { most: day }),
      })
      .prefault({}),
    recheckMs: ms(10 * minute, { most: hour }),
    lingerMs: ms(0, { least: 0, most: 60_000 }),
    publishMinMs: ms(5_000, { least: 0 }),
  })
  .prefault({});

export type AgentPoolsConfig = z.infer<typeof agentPoolsConfig>;

/** What a run decides by. */
export const agentPoolRules = ({
  discoveryMs,
  maxAgents,
  maxConcurrent,
  deleteSurplus,
  surplusMs,
  replacementsPerHour,
  approveAbove,
  approveAbovePercent,
  pinSelectors,
  driftedAtOnce,
}: AgentPoolsConfig): AgentPoolRules => ({
  discoveryMs,
  maxAgents,
  maxConcurrent,
  deleteSurplus,
  surplusMs,
  replacementsPerHour,
  approveAbove,
  approveAbovePercent,
  pinSelectors,
  driftedAtOnce,
});
