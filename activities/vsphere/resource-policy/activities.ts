import type { ResourcePolicyVsphereActivities } from '../../../contracts/resource-policy/resource-policy.ts';
import { currentScope } from '../../lib/context.ts';
import { whileBeating } from '../../lib/wait.ts';
import type { VsphereDependencies } from '../dependencies.ts';
import { changePolicyInVcenter, type PolicyTools } from './change.ts';
import { observePolicyInVcenter } from './observe.ts';

/**
 * Activities on what policies name in one vCenter, queue `vsphere:<vcenter>`. They heartbeat, so that a worker that
 * dies is replaced soon.
 */
export function createResourcePolicyVsphereActivities({
  gateway,
  rest,
  places,
  stopGate,
  audit,
  scope = currentScope,
  clock,
}: Pick<
  VsphereDependencies,
  'gateway' | 'rest' | 'places' | 'stopGate' | 'audit' | 'scope' | 'clock'
>): ResourcePolicyVsphereActivities {
  const beating = <Result>(work: (tools: PolicyTools) => Promise<Result>): Promise<Result> => {
    const tools = { gateway, rest, stopGate, audit, scope: scope(clock), clock };
    return whileBeating(
      tools,
      () => undefined,
      () => work(tools),
    );
  };
  return {
    observePolicyInVcenter: (request) => beating((tools) => observePolicyInVcenter(tools, places, request)),
    changePolicyInVcenter: (request) => beating((tools) => changePolicyInVcenter(tools, request)),
  };
}
