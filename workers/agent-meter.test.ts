import type { AgentPoolActivities, AgentPoolObservation } from '../contracts/agent-pool/agent-pool.ts';
import { createMetrics } from '../runtime/telemetry/metrics.ts';
import { meterAgents } from './agent-meter.ts';

const nothing = (): Promise<never> => Promise.reject(new Error('not asked'));
const base: AgentPoolActivities = {
  observeAgentPool: nothing,
  patchAgentPoolFinalizer: nothing,
  createVsphereAgents: nothing,
  prepareAgents: nothing,
  releaseVsphereAgents: nothing,
  deleteMachines: nothing,
  pinAgentMachines: nothing,
  refreshIso: nothing,
  destroyStrays: nothing,
  removeIsos: nothing,
  publishAgentPool: nothing,
};
const pool = { namespace: 'team', name: 'gpu' };
const recheckMs = 600_000;

function observation(isThere = true, observed: Partial<AgentPoolObservation['observed']> = {}): AgentPoolObservation {
  const held = { name: 'a', cause: 'MachineAbsent', waitsFor: 'NodePresent', message: 'x' } as const;
  const counts = {
    agentMachines: 9,
    waiting: 5,
    unready: 5,
    withoutAgent: 5,
    matching: 4,
    bound: 4,
    available: 1,
    provisioning: 2,
    owned: 7,
  };
  return {
    kind: 'observed',
    desired: isThere ? { uid: 'u', generation: 1, deleting: false, isHeld: true, deletes: true, force: false } : null,
    observed: { counts, held: [held], iso: { path: null, dueMs: 0, why: 'there is none yet' }, ...observed },
    settings: { recheckMs },
    digest: null,
    retry: null,
  } as unknown as AgentPoolObservation;
}

function meter() {
  const metrics = createMetrics('worker', '1');
  const clock = { nowMs: 1_000, now: () => clock.nowMs, monotonicMs: () => clock.nowMs };
  return { metrics, clock, metered: meterAgents(metrics, clock).metered };
}

test('a pool is shown as it was observed, while that is fresh', async () => {
  const { metrics, clock, metered } = meter();
  await metered({ ...base, observeAgentPool: () => Promise.resolve(observation()) }).observeAgentPool(pool);
  const page = await metrics.page();
  for (const [state, value] of Object.entries({
    waiting: 5,
    wanted: 2,
    provisioning: 2,
    available: 1,
    bound: 4,
    held: 1,
  }))
    expect(page).toContain(`drover_agent_pool_agents{namespace="team",pool="gpu",state="${state}"} ${value}\n`);
  expect(page).toContain('drover_agent_pool_iso_due{namespace="team",pool="gpu"} 1\n');
  expect(page).toContain('drover_agent_pool_observed_timestamp_seconds{namespace="team",pool="gpu"} 1\n');
  clock.nowMs += 3 * recheckMs;
  expect(await metrics.page()).not.toContain('pool="gpu"');
});

test('VMs that cannot be made are not on their way, and those that wait for them are starved', async () => {
  const { metrics, metered } = meter();
  const stuck = { count: 2, reason: 'VsphereNotPermitted', message: 'no privilege' };
  const observe = () => Promise.resolve(observation(true, { stuck }));
  await metered({ ...base, observeAgentPool: observe }).observeAgentPool(pool);
  const page = await metrics.page();
  for (const [state, value] of Object.entries({ waiting: 5, wanted: 4, provisioning: 0 }))
    expect(page).toContain(`drover_agent_pool_agents{namespace="team",pool="gpu",state="${state}"} ${value}\n`);
});

test('a pool that is gone is shown no more', async () => {
  const { metrics, metered } = meter();
  const found = [observation(), observation(false)];
  const activities = metered({ ...base, observeAgentPool: () => Promise.resolve(found.shift() ?? observation()) });
  await activities.observeAgentPool(pool);
  await activities.observeAgentPool(pool);
  expect(await metrics.page()).not.toContain('pool="gpu"');
});

test('refreshes are counted by what was done, and fail as they do', async () => {
  const { metrics, metered } = meter();
  const refreshed = { outcome: 'reused', path: 'p', sha256: 's', sizeBytes: 1 } as const;
  await metered({ ...base, refreshIso: () => Promise.resolve(refreshed) }).refreshIso({ ...pool, uid: 'u' });
  await expect(metered(base).refreshIso({ ...pool, uid: 'u' })).rejects.toThrow('not asked');
  expect(await metrics.page()).toContain('drover_iso_refreshes_total{outcome="reused"} 1\n');
});
