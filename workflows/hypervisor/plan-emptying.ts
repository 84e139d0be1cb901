import type { EvictionCause } from '../../contracts/eviction/eviction.ts';
import type {
  EvictionFacts,
  HypervisorObservation,
  MaintenanceMode,
  NewEviction,
  NovaHost,
} from '../../contracts/hypervisor/hypervisor.ts';
import { copiedLabels } from '../../contracts/ids.ts';
import { acknowledgeRetry } from './acknowledge-retry.ts';
import { judgeDeadline } from './judge-deadline.ts';
import { foreignEvictions, judgeEmptying, ownEviction } from './judge-evicting.ts';
import { consentAdvice, describeConsumers, leftoverProvider, releaseConsent } from './release-consent.ts';
import { disabling, maintenanceReason, remainsOn } from './service.ts';
import type { Context, Plan } from './step.ts';
import { act, rest, wait } from './step.ts';

/**
 * Takes a host out of Nova's choice and empties it: disable, test servers, Eviction, wait. Null: it is empty, or Nova has no such host.
 * Source: hypervisor.md B.5; what failed is never taken for empty (C.1, H10), and a service that somebody enables meanwhile is disabled
 * again (H11).
 */
export function planEmptying(context: Context, mode: Exclude<MaintenanceMode, ''>): Plan | null {
  const { desired, observed } = context;
  const { nova, testServers } = observed;
  if (nova === null) return null;
  if (nova.service.status === 'enabled')
    return act(disabling(nova, maintenanceReason(mode, desired.maintenanceReason)));
  if (testServers.length > 0)
    return act({ do: 'deleteTestServers', ids: testServers, words: `Delete the test servers on ${nova.host}` });

  const own = ownEviction(context);
  const asksAgain = desired.retry !== null && own !== null;
  switch (judgeEmptying(context)) {
    case 'absent':
    case 'empty':
      return null;
    case 'running':
      return awaitEviction(context, own);
    case 'failed':
    case 'stopped':
      if (own?.deleting) return awaitEviction(context, own);
      if (own?.state === 'failed' && mode === 'termination') {
        const release = planRelease(context, own);
        if (release !== null) return release;
      }
      if (asksAgain)
        return act({
          do: 'deleteEviction',
          name: own.name,
          uid: own.uid,
          words: `Clear Eviction ${own.name} away, to try again`,
        });
      return rest(
        own === null
          ? `The Eviction of ${desired.name} was deleted before it had ended`
          : `Eviction ${own.name} has not emptied ${desired.name}: ${own.message}`,
      );
    case 'open':
      return begin(context, nova, mode, own);
  }
}

/**
 * Allocations that no server, migration or resize holds keep an Eviction from ending well, for ever. A host that goes for good loses them by a
 * person's consent, and is then emptied once more; without it that is what is said. Null: that is not all that is left.
 */
function planRelease({ desired, observed }: Context, own: EvictionFacts): Plan | null {
  const { nova } = observed;
  const consentBy = releaseConsent(desired);
  const clearing = {
    do: 'deleteEviction',
    name: own.name,
    uid: own.uid,
    words: `Clear Eviction ${own.name} away, to empty ${desired.name} once more`,
  } as const;
  // They were taken away, and news came before the Eviction was.
  if (nova !== null && remainsOn(nova).length === 0) return consentBy === null ? null : act(clearing);
  const left = leftoverProvider(observed);
  if (left === null) return null;
  if (consentBy === null)
    return desired.retry === null
      ? rest(`Nothing but ${describeConsumers(left)} is left of ${desired.name}. ${consentAdvice}`)
      : null;
  return act(
    {
      do: 'releaseAllocations',
      providerId: left.uuid,
      consentBy,
      words: `Take away ${describeConsumers(left)}, by consent of ${consentBy}`,
    },
    clearing,
  );
}

function awaitEviction({ desired, observed, settings }: Context, own: ReturnType<typeof ownEviction>): Plan {
  const deadline = judgeDeadline(desired, observed.node, settings);
  if (own === null || own.deleting) return wait(`Eviction ${own?.name ?? desired.name} to be gone`);
  const isLater = deadline !== null && (own.deadline === null || Date.parse(own.deadline) > deadline.atMs);
  if (isLater) {
    const text = timeOf(deadline.atMs);
    return act({
      do: 'setEvictionDeadline',
      name: own.name,
      uid: own.uid,
      deadline: text,
      words: `Tell Eviction ${own.name} that its deadline is ${text}`,
    });
  }
  return wait(`Eviction ${own.name}: ${own.message}`);
}

function begin(
  context: Context,
  nova: NovaHost,
  mode: Exclude<MaintenanceMode, ''>,
  own: ReturnType<typeof ownEviction>,
): Plan {
  const { desired } = context;
  const [foreign] = foreignEvictions(context);
  if (foreign !== undefined) return wait(`Eviction ${foreign.name}, which somebody else started, to end`);
  if (own !== null) {
    const words = `${remainsOn(nova).join(', ')} came after Eviction ${own.name}: clear it away, to empty ${nova.host} again`;
    return act({ do: 'deleteEviction', name: own.name, uid: own.uid, words });
  }
  if (nova.service.state === 'down' && mode === 'ha')
    return wait('what becomes of a host that is down: nothing can be moved off it live');
  const eviction = newEviction(context, mode);
  const create = { do: 'createEviction', eviction, words: `Empty ${nova.host}: Eviction ${eviction.name}` } as const;
  return desired.retry === null ? act(create) : act(create, acknowledgeRetry(desired, desired.retry));
}

/** Obstacles stop what a person asked for, and are carried along where the host goes whether it is empty or not. */
function causeOf({ desired, observed }: Context, mode: Exclude<MaintenanceMode, ''>): EvictionCause {
  switch (mode) {
    case 'manual':
      return 'admin';
    case 'auto':
      return 'rolling-update';
    case 'ha':
      return 'termination';
    case 'termination':
      return desired.maintenance === 'termination' && !hasNodeDeadline(observed) ? 'decommission' : 'termination';
  }
}

const hasNodeDeadline = ({ node }: HypervisorObservation): boolean =>
  node === null || node.terminatingSinceMs !== null || node.deletedAtMs !== null;

function newEviction(context: Context, mode: Exclude<MaintenanceMode, ''>): NewEviction {
  const { desired, observed, settings } = context;
  const deadline = judgeDeadline(desired, observed.node, settings);
  const keys: readonly string[] = [...copiedLabels, ...settings.copiedLabels];
  return {
    name: freeName(context, mode),
    hypervisor: desired.name,
    ownerUid: desired.uid,
    reason: `Hypervisor ${desired.name}: maintenance ${mode}${desired.maintenanceReason === null ? '' : `: ${desired.maintenanceReason}`}`,
    cause: causeOf(context, mode),
    deadline: deadline === null ? null : timeOf(deadline.atMs),
    reEnable: false,
    labels: Object.fromEntries(Object.entries(desired.labels).filter(([key]) => keys.includes(key))),
  };
}

/** The hypervisor's name, as upstream; where an Eviction of somebody else's has it, one that tells what it is for. */
function freeName({ desired, observed }: Context, mode: MaintenanceMode): string {
  const taken = new Set(observed.evictions.map(({ name }) => name));
  const free = (name: string, next: number): string =>
    taken.has(name) ? free(`${desired.name}-${mode}-${next}`, next + 1) : name;
  return free(desired.name, desired.generation);
}

const timeOf = (ms: number): string => new Date(ms).toISOString();
