import type { ObservationScope, ObservedHypervisor } from '../../contracts/hypervisor/activities.ts';
import type { DesiredHypervisor, HypervisorInput, HypervisorSettings } from '../../contracts/hypervisor/hypervisor.ts';
import { needsFailureRun } from '../../contracts/hypervisor/attention.ts';
import { hypervisorId, nodeMetadata } from '../../contracts/ids.ts';
import type { ObservedInKubernetes } from '../kubernetes/hypervisor/observe-kubernetes.ts';
import { readHypervisorInput } from '../lib/input.ts';
import { type RegionQuestion, type RegionTools, nothingOfRegion, observeRegion } from './observe-region.ts';

export interface ObserveTools extends RegionTools {
  settings: HypervisorSettings;
  /** Of the kind Hypervisor. */
  isOff: boolean;
  observeKubernetes: (name: string, signal: AbortSignal) => Promise<ObservedInKubernetes>;
  /** Signals the hypervisor's own run, starting it if need be. */
  signalWithStart: (hypervisor: string, startedBy: string | null) => Promise<void>;
  isFailureRunOpen: (hypervisor: string, signal: AbortSignal) => Promise<boolean>;
}

/**
 * What of the region is read once for all hosts that are only observed again: a quarter of the time that passes between
 * two observations, and no more than this.
 */
const trustedMs = 15_000;
const trustedPart = 4;

/**
 * Everything that decisions about a hypervisor need.
 *
 * @param extent `kubernetes`: OpenStack is not asked, and what it would say is not known
 * @throws InvalidInput what was typed by hand is no input; InvalidObject names the field
 */
export async function observeHypervisor(
  tools: ObserveTools,
  input: HypervisorInput,
  extent: ObservationScope,
): Promise<ObservedHypervisor> {
  const { settings, scope } = tools;
  const { hypervisor, startedBy, mode } = readHypervisorInput(input);
  if (tools.isOff)
    return {
      kind: 'nothing',
      message: `Hypervisors are switched off in drover’s settings (modes.Hypervisor); ${hypervisor} is left as it is`,
    };
  const workflowId = hypervisorId(hypervisor, settings.cluster);
  if (scope.run !== null && scope.run.workflowId !== workflowId) {
    await tools.signalWithStart(hypervisor, startedBy ?? null);
    return { kind: 'handedOver', message: `Run ${workflowId} drives ${hypervisor}` };
  }
  const { desired, digest, ...known } = await tools.observeKubernetes(hypervisor, scope.signal);
  const region =
    extent !== 'kubernetes' && desired !== null
      ? await observeRegion(
          tools,
          questionOf(hypervisor, desired, known, settings),
          extent === 'again' ? Math.min(trustedMs, settings.recheckMs / trustedPart) : 0,
        )
      : nothingOfRegion;
  const isRunNeeded =
    settings.handlesNodeFailure && needsFailureRun(known.recorded.conditions, known.hold?.reason ?? null);
  const failureRun = !isRunNeeded
    ? null
    : (await tools.isFailureRunOpen(hypervisor, scope.signal))
      ? ('open' as const)
      : ('closed' as const);
  const observesOnly = [mode, desired?.mode].includes('observe');
  return {
    kind: 'observed',
    settings: observesOnly ? { ...settings, mode: 'observe' } : settings,
    desired,
    observed: { ...known, ...region, failureRun, failure: null },
    digest,
    retry: desired?.retry ?? null,
  };
}

function questionOf(
  hypervisor: string,
  desired: DesiredHypervisor,
  { recorded }: Pick<ObservedInKubernetes, 'recorded'>,
  { testAggregate }: HypervisorSettings,
): RegionQuestion {
  const zone = desired.labels[nodeMetadata.zone];
  return {
    hypervisor,
    aggregates: [...desired.aggregates, testAggregate, ...(zone === undefined || zone === '' ? [] : [zone])],
    formerProviderId: recorded.hypervisorId,
  };
}
