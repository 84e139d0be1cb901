import { guestWordMaxAgeMs } from '../../contracts/node-failure/guest-watch.ts';
import { fencedHold } from '../../contracts/ids.ts';
import type { HandlingSettings, NodeFailureLook } from '../../contracts/node-failure/activities.ts';
import type { HostSigns, Witness } from '../../contracts/node-failure/node-failure.ts';
import type { PowerState } from '../../contracts/node-failure/power.ts';
import type { FailureState } from './failure-run.ts';
import { beginFencing, takeLook, takePower, type FencingState } from './fencing-state.ts';
import { judgeNodeFailure } from './judge-node-failure.ts';
import { passGates } from './safety-gates.ts';

/** A look and the time before it was asked for, by the run's clock: what it tells is at least as young as that. */
export interface DatedLook {
  look: NodeFailureLook;
  askedMs: number;
  /** The last word that too many of its guests fail; null: nobody ever said so. */
  guests: FailureState['guests'];
}

/**
 * Takes one look in: signs with the time since when the run has seen them so, the verdict, and the gates. Null where an incident cannot be
 * opened yet, as it is not known whether an earlier run has fenced the host. Pure.
 */
export function takeInLook(
  state: FencingState | null,
  name: string,
  { look, askedMs, guests }: DatedLook,
  { judging, gates, fencing: settings }: HandlingSettings,
  nowMs: number,
): FencingState | null {
  const signs = rememberSigns(state?.signs ?? null, name, { look, askedMs, guests });
  const fresh = {
    signs,
    verdict: judgeNodeFailure(signs, judging, nowMs),
    gate: passGates(look.fleet, gates, nowMs),
    mode: look.mode,
  };
  const taken =
    state === null ? open(name, look, { ...fresh, settings }, askedMs) : { ...takeLook(state, fresh), settings };
  return taken === null || look.power === null
    ? taken
    : takePower(taken, { host: name, power: look.power, atMs: askedMs });
}

function open(
  name: string,
  { hypervisor, nova, node }: NodeFailureLook,
  fresh: Pick<FencingState, 'signs' | 'verdict' | 'gate' | 'mode' | 'settings'>,
  openedAtMs: number,
): FencingState | null {
  if (hypervisor === null || nova === null) return null;
  // An earlier run has fenced it, and somebody ended that run: its evidence went with it.
  const isFenced = hypervisor.hold === fencedHold && nova.service.forcedDown;
  const bootId = (isFenced ? hypervisor.fencedBootId : null) ?? node?.bootId ?? null;
  const begun = beginFencing({
    ...fresh,
    incident: { id: `${name}/${new Date(openedAtMs).toISOString()}`, host: name, bootId, openedAtMs },
  });
  return isFenced ? { ...begun, forcedDown: true, fencedBootId: hypervisor.fencedBootId } : begun;
}

/** A sign is as old as the run has seen it without a break: its own clock, and the later time where in doubt. */
export function rememberSigns(before: HostSigns | null, host: string, { look, askedMs, guests }: DatedLook): HostSigns {
  const since = (isSame: boolean, sinceMs: number | undefined): number =>
    isSame && sinceMs !== undefined ? sinceMs : askedMs;
  const { node, compute, power } = look;
  const libvirt = withGuests(look.libvirt, guests, askedMs);
  return {
    host,
    node: node === null ? null : { ...node, sinceMs: since(before?.node?.ready === node.ready, before?.node?.sinceMs) },
    compute:
      compute === null
        ? null
        : { ...compute, sinceMs: since(before?.compute?.state === compute.state, before?.compute?.sinceMs) },
    libvirt:
      libvirt === null
        ? null
        : { ...libvirt, sinceMs: since(before?.libvirt?.verdict === libvirt.verdict, before?.libvirt?.sinceMs) },
    witnesses: power === null ? [] : [{ kind: 'bmcPower', says: witnessOf(power), atMs: askedMs }],
  };
}

/** A libvirt that answers is well, unless whoever listens to its guests said a short time ago that they fail. One that is silent is no more than that. */
function withGuests(
  libvirt: NodeFailureLook['libvirt'],
  guests: FailureState['guests'],
  askedMs: number,
): NodeFailureLook['libvirt'] {
  if (libvirt?.verdict !== 'healthy' || guests === null || askedMs - guests.atMs >= guestWordMaxAgeMs) return libvirt;
  return { verdict: 'failing', message: guests.message };
}

/** Whatever is between On and Off has power. */
function witnessOf(power: PowerState): Witness['says'] {
  if (power === 'Off') return 'stopped';
  return power === 'Unknown' ? 'unknown' : 'powered';
}
