import { z } from 'zod';

import { findCondition } from '../../contracts/conditions.ts';
import { guardBudget, guardDeployment, guardPrefix } from '../../contracts/hypervisor/drain-guard.ts';
import { forcedDownReasons, hypervisorConditions } from '../../contracts/hypervisor/conditions.ts';
import { nodeMetadata } from '../../contracts/ids.ts';
import type { HypervisorObject } from './hypervisor-objects.ts';

/** What the operator that drover replaces leaves behind when it is switched off, and nothing takes away by itself. */

const guardSchema = z.object({
  metadata: z.object({
    namespace: z.string().optional(),
    name: z.string(),
    uid: z.string(),
    resourceVersion: z.string(),
    labels: z.record(z.string(), z.string()).optional(),
  }),
});

/** The two kinds of object that each has for a Node, of one name. */
export const guardKinds = [
  { ...guardBudget, schema: guardSchema },
  { ...guardDeployment, schema: guardSchema },
] as const;

type GuardKind = (typeof guardKinds)[number];
export type Guard = z.output<typeof guardSchema>;

export interface GuardLeft {
  kind: GuardKind;
  node: string;
  object: Guard;
}

/**
 * Guards that nothing drives any more: their Nodes' drains wait for ever. Where drover holds drains back itself, those
 * of hosts that it drives are its own by now.
 */
export const guardsLeft = (
  kind: GuardKind,
  objects: readonly Guard[],
  hypervisors: readonly Pick<HypervisorObject, 'name' | 'lifecycleEnabled'>[],
  guardsDrain: boolean,
): GuardLeft[] =>
  objects
    .filter(
      ({ metadata }) =>
        metadata.name.startsWith(guardPrefix) && metadata.labels?.[nodeMetadata.drainGuard] !== undefined,
    )
    .map((object) => ({ kind, object, node: object.metadata.name.slice(guardPrefix.length) }))
    .filter(
      ({ node }) =>
        !guardsDrain || !hypervisors.some(({ name, lifecycleEnabled }) => name === node && lifecycleEnabled),
    );

/** Hosts that another party has forced down in Nova, as the run of each has observed. */
export const forcedDownByOthers = (hypervisors: readonly HypervisorObject[]): HypervisorObject[] =>
  hypervisors.filter(({ conditions }) => {
    const found = findCondition(conditions, hypervisorConditions.forcedDown);
    return found?.status === 'True' && found.reason === forcedDownReasons.byOthers;
  });
