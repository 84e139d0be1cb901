import { toCustomResourceDefinition } from '../../contracts/crds/custom-resource-definition.ts';
import { neighbourDefinitions } from '../../contracts/crds/definitions.ts';
import type { PolicyEvaluation } from '../../contracts/crds/policy-evaluation.ts';
import { apiVersionOf } from '../../contracts/kinds/object.ts';
import { policyEvaluation } from '../../contracts/kinds/resources.ts';
import type { Kubernetes } from '../../runtime/kubernetes/kubernetes.ts';
import { labClock } from '../clock.ts';
import { applyDefinition, mergeStatus, objectPath } from '../kubernetes-objects.ts';

/**
 * What the controller of policies does for VMs, as its objects document it, in the place of it: it says in each
 * PolicyEvaluation which policies apply, and by which tags. Only policies that are named apply here.
 */

const apiVersion = apiVersionOf(policyEvaluation);
const { kind } = policyEvaluation;
const listMs = 10_000;
const pollMs = 200;

/** The kind that it brings along. May be asked for again. */
export async function installPolicyEvaluations(kubernetes: Kubernetes): Promise<void> {
  for (const definition of neighbourDefinitions.filter((one) => one.kind === kind))
    await applyDefinition(kubernetes, { ...toCustomResourceDefinition(definition) });
}

/** As a spec names one. */
export const policyReference = (name: string) => ({ apiVersion, kind: 'ComputePolicy', name });

export interface PolicyPlayer {
  /** A policy, by the ids of its tags, in place of that of before. One that is named and not there is waited for. */
  define(name: string, tags: readonly string[]): void;
  /** It does nothing meanwhile, as a controller that is away. */
  pause(isPaused: boolean): void;
  stop(): Promise<void>;
}

/** Plays until it is stopped, for one namespace. A failure of one pass is forgotten: the next one looks again. */
export function playPolicies({ kubernetes, namespace }: { kubernetes: Kubernetes; namespace: string }): PolicyPlayer {
  const policies = new Map<string, { generation: number; tags: readonly string[] }>();
  let isPaused = false;
  const stopping = new AbortController();
  const pass = async (): Promise<void> => {
    const path = objectPath({ apiVersion, kind, metadata: { namespace, name: '' } });
    const { items } = (await kubernetes.request({ method: 'GET', path }, AbortSignal.timeout(listMs))) as {
      items: PolicyEvaluation[];
    };
    for (const one of items) await evaluate(one);
  };
  const evaluate = async ({ metadata, spec = {}, status }: PolicyEvaluation): Promise<void> => {
    const { generation } = metadata;
    const named = spec.policies ?? [];
    const missing = named.filter(({ name }) => !policies.has(name)).map(({ name }) => name);
    const results = named.flatMap(({ apiVersion: of, kind: ofKind, name }) => {
      const found = policies.get(name);
      return found === undefined
        ? []
        : [{ apiVersion: of, kind: ofKind, name, observedGeneration: found.generation, tags: [...found.tags] }];
    });
    const message = missing.length === 0 ? '' : `there is no ComputePolicy ${missing.join(', ')}`;
    const before = status?.conditions?.find(({ type }) => type === 'Ready');
    const isSaid =
      status?.observedGeneration === generation &&
      before?.message === message &&
      JSON.stringify(status.policies ?? []) === JSON.stringify(results);
    if (isSaid) return;
    await mergeStatus(kubernetes, {
      apiVersion,
      kind,
      metadata: { namespace, name: metadata.name },
      status: {
        observedGeneration: generation,
        policies: results,
        conditions: [
          {
            type: 'Ready',
            status: missing.length === 0 ? 'True' : 'False',
            reason: missing.length === 0 ? 'True' : 'NotFound',
            message,
            lastTransitionTime: new Date(labClock().now()).toISOString(),
          },
        ],
      },
    });
  };
  const loop = async (): Promise<void> => {
    while (!stopping.signal.aborted) {
      if (!isPaused) await pass().catch(() => undefined);
      await labClock().sleep(pollMs);
    }
  };
  const done = loop();
  return {
    define: (name, tags) => void policies.set(name, { generation: (policies.get(name)?.generation ?? 0) + 1, tags }),
    pause: (paused) => void (isPaused = paused),
    async stop() {
      stopping.abort();
      await done;
    },
  };
}
