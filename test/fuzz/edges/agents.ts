import * as fc from 'fast-check';

import { judgePool } from '../../../contracts/agent-pool/judge-pool.ts';
import {
  readAgent,
  readAgentMachine,
  readMachine,
  readPool,
  readVsphereAgent,
} from '../../../contracts/agent-pool/pool-facts.ts';
import { foreignKubeConfig } from '../../../runtime/kubernetes/foreign-kube-config.ts';
import { neighbourResources, resources } from '../../../runtime/kubernetes/resources.ts';
import {
  agent,
  agentMachine,
  machine,
  now,
  pool,
  rules,
  vsphereAgent,
  waits,
} from '../../fixtures/activities/agent-pool.ts';
import { edge, type Edge } from '../edge.ts';
import { near, nearJson } from '../hostile.ts';

/** What pools read of their neighbours, and kubeconfigs that others have written. */

const valuesOf = <Value>(parsed: { success: true; data: Value } | { success: false }): Value[] =>
  parsed.success ? [parsed.data] : [];

const kubeconfig = {
  'current-context': 'admin',
  contexts: [{ name: 'admin', context: { cluster: 'hosted', user: 'admin' } }],
  clusters: [{ name: 'hosted', cluster: { server: 'https://hosted.test:6443', 'certificate-authority-data': 'Y2E=' } }],
  users: [{ name: 'admin', user: { token: 'of-the-hosted-cluster' } }],
};

export const agentEdges: readonly Edge[] = [
  edge({
    name: 'agents: a pool, its VMs and its neighbours',
    inputs: fc.record({
      pool: near(pool()),
      vm: near(vsphereAgent('a')),
      agent: near(agent('a'), agent('a', { takenBy: 'a' })),
      agentMachine: near(agentMachine('a', { status: waits })),
      machine: near(machine('a')),
    }),
    failures: [],
    read: (given) => {
      const [own] = valuesOf(resources.VsphereAgentPool.schema.safeParse(given.pool));
      if (own === undefined) return null;
      const facts = readPool(own);
      const { vms, ...judged } = judgePool({
        pool: facts,
        rival: null,
        vms: valuesOf(resources.VsphereAgent.schema.safeParse(given.vm)).map(readVsphereAgent),
        agents: valuesOf(neighbourResources.Agent.schema.safeParse(given.agent)).map(readAgent),
        agentMachines: valuesOf(neighbourResources.AgentMachine.schema.safeParse(given.agentMachine)).map((one) =>
          readAgentMachine(one, facts),
        ),
        machines: valuesOf(neighbourResources.ClusterMachine.schema.safeParse(given.machine)).map(readMachine),
        nodes: null,
        rules,
        nowMs: now,
      });
      return { ...judged, vms: vms.length };
    },
  }),
  edge({
    name: 'agents: the kubeconfig of a hosted cluster',
    inputs: nearJson(kubeconfig),
    failures: ['InvalidObject'],
    read: (text) => foreignKubeConfig(text, 'Secret hosted/admin-kubeconfig'),
    holds: (read) =>
      !/"(exec|auth-provider|tokenFile|certificate-authority|client-key|insecure-[^"]*)":/u.test(String(read)),
  }),
];
