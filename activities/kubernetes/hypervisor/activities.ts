import type { HypervisorObjectActivities } from '../../../contracts/hypervisor/activities.ts';
import { contextOf } from '../../lib/context.ts';
import { ensureCertificate } from './certificate.ts';
import { createHypervisor } from './create-hypervisor.ts';
import type { HypervisorObjectDependencies, HypervisorTools } from './dependencies.ts';
import { ensureDrainGuard } from './drain-guard.ts';
import { createHypervisorEviction, deleteHypervisorEviction, setEvictionDeadline } from './eviction.ts';
import { patchHypervisor } from './patch-hypervisor.ts';
import { publishHypervisor } from './publish-hypervisor.ts';
import { taintNode, untaintNode } from './taint-node.ts';

/** The activities on Hypervisors, their Nodes and their Evictions, on queue `kubernetes`. */
export function createHypervisorObjectActivities(
  dependencies: HypervisorObjectDependencies,
): HypervisorObjectActivities {
  const tools = (): HypervisorTools => contextOf(dependencies);
  return {
    createHypervisor: (hypervisor) => createHypervisor(tools(), hypervisor),
    patchHypervisor: (request) => patchHypervisor(tools(), request),
    createEviction: (eviction) => createHypervisorEviction(tools(), eviction),
    setEvictionDeadline: (request) => setEvictionDeadline(tools(), request),
    deleteEviction: (request) => deleteHypervisorEviction(tools(), request),
    taintNode: (request) => taintNode(tools(), request),
    untaintNode: (request) => untaintNode(tools(), request),
    ensureCertificate: (request) => ensureCertificate(tools(), request),
    ensureDrainGuard: (request) => ensureDrainGuard(tools(), request),
    publishHypervisor: (report) => publishHypervisor(tools(), report),
  };
}
