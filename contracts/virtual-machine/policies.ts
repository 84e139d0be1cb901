import { findCondition } from '../conditions.ts';
import type { PolicyEvaluation } from '../crds/policy-evaluation.ts';
import { conditionsOf } from '../kinds/object.ts';
import { virtualMachineConditions } from './conditions.ts';

/**
 * Policies of VMs. Another controller decides which apply, where drover asks it by a PolicyEvaluation for each VM;
 * drover attaches the tags by which vCenter applies them.
 */

export interface PolicyReference {
  apiVersion: string;
  kind: string;
  name: string;
}

/** What a VirtualMachine says for the evaluation. */
export interface WantedPolicies {
  /** Of `spec.policies`. */
  named: PolicyReference[];
  /** Policies may select VMs by their labels. */
  labels: Record<string, string>;
}

/** Which policies are asked about, and for what, as the PolicyEvaluation says it. */
export type EvaluationSpec = NonNullable<PolicyEvaluation['spec']>;

/** A policy that applies. */
export interface PolicyResult extends PolicyReference {
  /** Of the policy, when it was evaluated. */
  generation: number;
  /** Ids of tags, by which vCenter applies it. */
  tags: string[];
}

/** What is known of them in Kubernetes. */
export interface ObservedPolicies {
  /** kube-apiserver serves PolicyEvaluations. */
  served: boolean;
  /** Why the evaluation could not be read; null: it could. */
  problem: string | null;
  /** Null: there is none. */
  evaluation: ObservedEvaluation | null;
}

export interface ObservedEvaluation {
  uid: string;
  /** It is this VirtualMachine's, by its controller reference. */
  own: boolean;
  deleting: boolean;
  spec: EvaluationSpec;
  /** Its status is of the spec that it has. */
  isCurrent: boolean;
  /** Its condition `Ready`; null: it has none. */
  ready: { isTrue: boolean; message: string } | null;
  results: PolicyResult[];
}

/** `before`: what it was decided on; null: there is none yet. */
export interface EvaluationChange {
  spec: EvaluationSpec;
  before: Pick<ObservedEvaluation, 'uid' | 'spec'> | null;
}

/** As VM Operator calls it. */
export const evaluationName = (vm: string): string => `vm-${vm}`;

/**
 * Whether policies of a VirtualMachine are evaluated: it names some, or named some and that is not undone yet. An
 * object may hold anything. Pure.
 */
export function isEvaluated({ spec, status }: { spec?: unknown; status?: unknown }): boolean {
  const { policies: named } = (spec ?? {}) as { policies?: unknown };
  const { policies: applied } = (status ?? {}) as { policies?: unknown };
  const isAny = (list: unknown): boolean => Array.isArray(list) && list.length > 0;
  const said = findCondition(conditionsOf({ status }), virtualMachineConditions.policiesSynced);
  return isAny(named) || isAny(applied) || said !== undefined;
}

/** Whether both ask for the same: order counts in lists, and what is empty is as good as left out. Pure. */
export const isSameEvaluation = (one: EvaluationSpec, other: EvaluationSpec): boolean =>
  JSON.stringify(inOrder(one)) === JSON.stringify(inOrder(other));

function inOrder(value: unknown): unknown {
  if (Array.isArray(value)) return value.length === 0 ? undefined : value.map(inOrder);
  if (typeof value !== 'object' || value === null) return value;
  const fields = Object.entries(value)
    .map(([key, field]) => [key, inOrder(field)] as const)
    .filter(([, field]) => field !== undefined);
  return fields.length === 0 ? undefined : Object.fromEntries(fields.toSorted(([a], [b]) => (a < b ? -1 : 1)));
}

/** What is refused of the spec, as the cluster has no such kind; none: nothing is. Pure. */
export const refusedPolicies = (wanted: WantedPolicies | undefined, found: ObservedPolicies | undefined): string[] =>
  (wanted?.named.length ?? 0) > 0 && found?.served === false
    ? [
        'spec.policies: drover does not apply policies where the cluster serves no PolicyEvaluation (vsphere.policy.vmware.com/v1alpha1)',
      ]
    : [];
