import type { Clock } from '../../runtime/clock.ts';
import { failureCode } from '../../runtime/failure.ts';
import { shareByKey } from '../lib/share.ts';
import type { PlacementClient, ProviderTraits } from './types.ts';

/** What Placement has of a resource provider: its traits, and who has something of it. */
export interface ProviderObservation extends ProviderTraits {
  /** Ids. */
  consumers: string[];
}

export interface ProviderReads {
  /**
   * As things stand. Null where Placement knows no such provider.
   *
   * @param serviceId of the compute service whose host it is: one that registers anew may have a provider of the same
   * id. Null: not known
   */
  observe: (uuid: string, serviceId: string | null, signal: AbortSignal) => Promise<ProviderObservation | null>;
}

/**
 * The client, whose question which traits exist is sent once for all that ask it at the same moment: it also shows that
 * Placement answers.
 */
export function sharePlacement(client: PlacementClient, clock: Clock): PlacementClient {
  const existing = shareByKey(clock, (names, signal) => client.existingTraits(names.split(','), signal));
  return {
    ...client,
    existingTraits: async (names, signal) =>
      names.length === 0 ? [] : [...(await existing.read(names.join(','), 0, signal))],
  };
}

/** Of a large region's hosts. */
const mostKnown = 10_000;
/** A provider that was deleted in Placement alone is made again under its id, and begins to count anew. */
const trustedMs = 10 * 60_000;

/**
 * Reads providers with one request each while their traits stay as they are: each change of them raises the provider's
 * generation, which the answer on its allocations has too. One per worker process.
 *
 * @see Placement API, "Resource provider traits": the generation
 */
export function createProviderReads(
  placement: Pick<PlacementClient, 'allocationsWithGeneration' | 'traitsWithGeneration'>,
  clock: Clock,
): ProviderReads {
  const known = new Map<string, ProviderTraits & { serviceId: string; readMs: number }>();
  // The same few hundred names at thousands of hosts.
  const names = new Map<string, string>();
  const shared = (name: string): string => names.get(name) ?? (names.set(name, name), name);

  return {
    async observe(uuid, serviceId, signal) {
      try {
        const { generation, allocations } = await placement.allocationsWithGeneration(uuid, signal);
        const consumers = Object.keys(allocations);
        const before = known.get(uuid);
        const readMs = clock.monotonicMs();
        const isSame = before?.generation === generation && before.serviceId === serviceId;
        if (isSame && readMs - before.readMs < trustedMs) return { generation, traits: before.traits, consumers };
        const read = await placement.traitsWithGeneration(uuid, signal);
        const traits = { generation: read.generation, traits: read.traits.map(shared) };
        if (known.size >= mostKnown) known.clear();
        if (serviceId !== null) known.set(uuid, { ...traits, serviceId, readMs });
        return { ...traits, consumers };
      } catch (error) {
        if (failureCode(error) !== 'HostNotFound') throw error;
        known.delete(uuid);
        return null;
      }
    },
  };
}
