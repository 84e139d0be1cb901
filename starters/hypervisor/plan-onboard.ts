import { findCondition } from '../../contracts/conditions.ts';
import { hypervisorConditions, onboardingReasons } from '../../contracts/hypervisor/conditions.ts';
import { hypervisorAnnotations, nodeMetadata } from '../../contracts/ids.ts';
import type { HypervisorObject, SpeakingNode } from './hypervisor-objects.ts';
import { nodeTerminates } from './hypervisor-objects.ts';
import { describeLifecycle, isCurrent, lifecycleOf } from '../command/lifecycle-condition.ts';
import type { HypervisorPlan } from './plan-maintenance.ts';
import { describeMaintenance, refused, refuseDeleted } from './plan-maintenance.ts';

/**
 * Where the Node speaks of the lifecycle, its label holds: what a spec says against it is
 * taken back (workflows/hypervisor/node.ts).
 */
export type OnboardPlan = HypervisorPlan | { kind: 'label'; node: SpeakingNode; value: string; says: string[] };

const labels = { test: 'true', skip: 'skip-tests' } as const;

/**
 * Decides how the lifecycle of a host is switched on: by the label of its Node where that has one, or where there is no
 * Hypervisor yet; else by the spec, which then is the person's and not taken back.
 *
 * @param node null: there is none, or it may not be read
 * @param skipTests undefined: as it is
 * @throws CommandError refused
 */
export function planOnboard(
  hypervisor: HypervisorObject | null,
  node: SpeakingNode | null,
  skipTests: boolean | undefined,
): OnboardPlan | null {
  if (hypervisor === null) return node === null ? null : planFirst(node, skipTests ?? false);
  refuseDeleted(hypervisor);
  const { name } = hypervisor;
  if (nodeTerminates(hypervisor))
    throw refused(
      `The Node of ${name} terminates: nothing is onboarded there any more.`,
      `\`drover describe ${name}\` shows how far its way out of Nova is.`,
    );
  if (hypervisor.maintenance === 'termination') throw leaving(hypervisor);
  const isNodes = node?.isHypervisor === true && node.lifecycle !== null;
  const skipsNow = isNodes ? node.lifecycle === labels.skip : hypervisor.skipTests;
  const skips = skipTests ?? skipsNow;
  const isAsked = (isNodes || hypervisor.lifecycleEnabled) && skips === skipsNow;
  if (isAsked)
    return hypervisor.lifecycleEnabled
      ? alreadyAsked(hypervisor)
      : { kind: 'nothing', says: [`Its Node says so already, and drover takes that over. Nothing was changed.`] };
  const says = afterwards(hypervisor, skips);
  if (isNodes)
    return {
      kind: 'label',
      node,
      value: skips ? labels.skip : labels.test,
      says: [
        `Label ${nodeMetadata.lifecycle} of Node ${name} is set: tests are ${skips ? 'left out' : 'made'}.`,
        ...says,
      ],
    };
  const what = hypervisor.lifecycleEnabled
    ? `The tests of ${name} are ${skips ? 'left out' : 'made'} from now on.`
    : `The lifecycle of ${name} is driven from now on.`;
  return {
    kind: 'change',
    change: { spec: { lifecycleEnabled: true, skipTests: skips }, ...ownWord(hypervisor) },
    says: [what, ...says],
  };
}

/** drover makes the Hypervisor itself, of what the Node says. */
function planFirst(node: SpeakingNode, skips: boolean): OnboardPlan {
  const { name, isHypervisor, lifecycle } = node;
  if (!isHypervisor)
    throw refused(
      `There is no Hypervisor ${name}, and its Node is none by its labels.`,
      `\`kubectl label node ${name} ${nodeMetadata.virtDriver}=kvm\` makes it one; then ask again.`,
    );
  const value = skips ? labels.skip : labels.test;
  const follows = 'drover makes its Hypervisor, and then onboards it.';
  if (lifecycle !== null && (lifecycle === labels.skip) === skips)
    return {
      kind: 'nothing',
      says: [`Node ${name} has the label ${nodeMetadata.lifecycle} already. ${follows} Nothing was changed.`],
    };
  return { kind: 'label', node, value, says: [`Label ${nodeMetadata.lifecycle} of Node ${name} is set. ${follows}`] };
}

/** What drover took over from a Node that says it no more is not taken back from a person who says it. */
function ownWord({ annotations }: HypervisorObject): { annotations?: Record<string, string> } {
  const remembered = (annotations[hypervisorAnnotations.fromNode] ?? '').split(',');
  const left = remembered.filter((memory) => memory !== 'lifecycleEnabled' && memory !== 'skipTests');
  return left.length === remembered.length ? {} : { annotations: { [hypervisorAnnotations.fromNode]: left.join(',') } };
}

function leaving(hypervisor: HypervisorObject): Error {
  const { name } = hypervisor;
  const isGone = lifecycleOf(hypervisor)?.reason === 'Decommissioned';
  return refused(
    `${name} ${isGone ? 'was taken out of Nova' : 'is being taken out of Nova'}: ${describeMaintenance(hypervisor)}.`,
    `The way back: \`drover maintain ${name} --mode ha --reason "…"\`, then \`drover activate ${name}\`; it registers and is onboarded ${isGone ? 'anew' : 'again where it has to be'}.`,
  );
}

function alreadyAsked(hypervisor: HypervisorObject): OnboardPlan {
  const { name } = hypervisor;
  const there = `The lifecycle of ${name} is driven already. ${describeLifecycle(hypervisor).replace(/\.$/u, '')}.`;
  if (isAborted(hypervisor))
    throw refused(
      there,
      `Mend the cause; then \`drover retry ${name}\` begins its onboarding again. --skip-tests leaves the tests out.`,
    );
  return { kind: 'nothing', says: [`${there} Nothing was changed.`] };
}

const isAborted = (hypervisor: HypervisorObject): boolean =>
  isCurrent(hypervisor) && lifecycleOf(hypervisor)?.reason === 'Aborted';

function afterwards(hypervisor: HypervisorObject, skips: boolean): string[] {
  const { name, maintenance, conditions } = hypervisor;
  const onboarding = findCondition(conditions, hypervisorConditions.onboarding);
  if (onboarding?.reason === onboardingReasons.aborted)
    return [`Its onboarding was aborted before: \`drover retry ${name}\` begins it again.`];
  if (maintenance !== '')
    return [
      `It is in ${describeMaintenance(hypervisor)}: what is left of its onboarding goes on when that ends, by \`drover activate ${name}\`.`,
    ];
  if (onboarding?.reason === onboardingReasons.succeeded)
    return ['It was onboarded before: its traits and aggregates are kept from now on.'];
  return [
    `It registers in Nova and Placement, is kept off guests, gets its traits, ${skips ? '' : 'is tested, '}and then is put into service.`,
  ];
}
