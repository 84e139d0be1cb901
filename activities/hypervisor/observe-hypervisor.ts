import type { HypervisorLook, HypervisorSeen } from '../../contracts/hypervisor/activities.ts';
import type { DesiredHypervisor, HypervisorInput, HypervisorSettings } from '../../contracts/hypervisor/hypervisor.ts';
import { hypervisorId, nodeMarks } from '../../contracts/ids.ts';
import { readShown } from '../../contracts/hypervisor/read-hypervisor.ts';
import type { HypervisorWorld } from '../kubernetes/hypervisor/read-hypervisor-world.ts';
import type { RegionQuestion, RegionTools } from './observe-region.ts';
import { nothingOfRegion, observeRegion } from './observe-region.ts';
import { readHypervisorInput } from '../lib/input.ts';

export interface LookTools extends RegionTools {
  settings: HypervisorSettings;
  /** Of the kind Hypervisor. */
  isOff: boolean;
  readWorld: (name: string, signal: AbortSignal) => Promise<HypervisorWorld>;
  /** Signals the hypervisor's own run, starting it if need be. */
  signalWithStart: (hypervisor: string, startedBy: string | null) => Promise<void>;
}

/**
 * Everything that decisions about a hypervisor need, in one look.
 *
 * @param look `kubernetes`: OpenStack is not asked, and what it would say is not known
 * @throws InvalidInput what was typed by hand is no input; InvalidObject names the field
 */
export async function observeHypervisor(
  tools: LookTools,
  input: HypervisorInput,
  look: HypervisorLook,
): Promise<HypervisorSeen> {
  const { settings, scope } = tools;
  const { hypervisor, startedBy, mode } = readHypervisorInput(input);
  if (tools.isOff)
    return {
      next: 'nothing',
      message: `Hypervisors are switched off in drover’s settings (modes.Hypervisor); ${hypervisor} is left as it is`,
    };
  const workflowId = hypervisorId(hypervisor, settings.cluster);
  if (scope.run !== null && scope.run.workflowId !== workflowId) {
    await tools.signalWithStart(hypervisor, startedBy ?? null);
    return { next: 'handedOver', workflowId };
  }
  const { desired, hypervisor: object, ...world } = await tools.readWorld(hypervisor, scope.signal);
  const shown = object === null ? nothingShown : readShown(object);
  const region =
    look === 'all' && desired !== null
      ? await observeRegion(tools, questionOf(hypervisor, desired, world, settings))
      : nothingOfRegion;
  return {
    next: 'run',
    settings: mode === 'observe' ? { ...settings, mode } : settings,
    desired,
    observed: { ...world, ...region },
    shown,
  };
}

const nothingShown = { traits: null, aggregates: null, internalIp: null };

function questionOf(
  hypervisor: string,
  desired: DesiredHypervisor,
  { recorded }: Pick<HypervisorWorld, 'recorded'>,
  { testAggregate }: HypervisorSettings,
): RegionQuestion {
  const zone = desired.labels[nodeMarks.zone];
  return {
    hypervisor,
    aggregates: [...desired.aggregates, testAggregate, ...(zone === undefined || zone === '' ? [] : [zone])],
    customTraits: desired.customTraits.filter((trait) => trait.startsWith('CUSTOM_')),
    formerProviderId: recorded.hypervisorId,
  };
}
