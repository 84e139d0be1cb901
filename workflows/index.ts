/** The workflow types. Their names are wire names: never renamed. */
export { evictHypervisor } from './eviction/evict-hypervisor.ts';
export { reconcileHypervisor } from './hypervisor/reconcile-hypervisor.ts';
export { reconcileVirtualMachine } from './virtual-machine/reconcile.ts';
export { syncContentLibrary } from './virtual-machine/sync-content-library.ts';
export { reconcileSetResourcePolicy } from './resource-policy/reconcile.ts';
export { findDrift } from './hypervisor/find-drift.ts';
export { handleNodeFailure } from './node-failure/handle-node-failure.ts';
export { watchGuests } from './node-failure/watch-guests.ts';
export { watchVcenter } from './vcenter/watch-vcenter.ts';
export { watchApiServers } from './machine-safety/watch-api-servers.ts';
export { watchOvershoot } from './machine-safety/watch-overshoot.ts';
export { migrateInstance } from './migration/migrate-instance.ts';
export { allocateAllowance } from './limits/allocate-allowance.ts';
export { sweepOrphans } from './machine-safety/sweep-orphans.ts';
export { requestSweep } from './machine-safety/request-sweep.ts';
export { reconcileAgentPool } from './agent-pool/reconcile-pool.ts';
export { reconcileAgent } from './agent-pool/reconcile-agent.ts';
