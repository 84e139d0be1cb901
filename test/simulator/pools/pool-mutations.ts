import type { SourceMutation } from '../mutations/break-sources.ts';

/**
 * What saves VMs and no setting switches off: each names what may go wrong (pool-dangers.ts), in which that is noticed.
 */
export const poolMutations: readonly SourceMutation[] = [
  {
    name: 'uidOfMarkIgnored',
    breaks: 'a VM is destroyed only with the mark of the very VsphereAgent',
    caughtBy: 'a VM is given another mark by a user, and its Machine goes',
    activity: {
      file: 'activities/vsphere/mutations/find-vm.ts',
      from: /b !== null && a\.kind === b\.kind && a\.namespacedName === b\.namespacedName && a\.uid === b\.uid/u,
      to: 'b !== null && a.kind === b.kind && a.namespacedName === b.namespacedName',
    },
  },
  {
    name: 'foreignAdopted',
    breaks: 'a VM of the name without the mark is never adopted',
    caughtBy: 'a VM of the name is there already',
    activity: {
      file: 'activities/vsphere/mutations/find-vm.ts',
      from: /if \(isSameOwner\(owner, found\.vm\.owner\)\) return found\.vm;/u,
      to: 'if (true) return found.vm;',
    },
  },
  {
    name: 'boundReleased',
    breaks: 'a pool that is deleted releases no VM whose Machine is there',
    caughtBy: 'a pool is deleted while its VMs are Nodes',
    activity: {
      file: 'contracts/agent-pool/judge-release.ts',
      from: /return isNeverTaken\(judged\) \?/u,
      to: 'return true ?',
    },
  },
  {
    name: 'machineNotWaitedFor',
    breaks: 'a run asks for no VM to be destroyed whose Machine is there',
    caughtBy: 'a VsphereAgent is deleted by hand while its VM is a Node',
    workflow: { from: /machine !== null && !force && !pool\.force/u, to: 'false' },
  },
  {
    name: 'machineNotFound',
    breaks: 'the Machine of a VM is looked up, and its Agent',
    caughtBy: 'a VsphereAgent is deleted by hand while its VM is a Node',
    activity: {
      file: 'activities/agents/vsphere-agent/read-subject.ts',
      from: /const machine = await findMachine\(reading, object, pool\);/u,
      to: 'const machine = await findMachine(reading, object, pool);\n  if (true) return { machine: null, agents: [] };',
    },
  },
  {
    name: 'namesByChance',
    breaks: 'the name of a VsphereAgent follows from its AgentMachine',
    caughtBy: 'the answer to the create of VsphereAgents is lost',
    activity: {
      file: 'activities/agents/agent-pool/create-agents.ts',
      from: /const object = newAgent\(pool, wanted\);/u,
      to: 'const object = newAgent(pool, { ...wanted, name: `${wanted.name}-${tools.clock.now()}` });',
    },
  },
  {
    name: 'identityByChance',
    breaks: 'a VM has its mark and its identity from the call that makes it',
    caughtBy: 'the worker dies when it has made a VM',
    activity: {
      file: 'activities/vsphere/mutations/find-vm.ts',
      from: /b !== null && a\.kind === b\.kind && a\.namespacedName === b\.namespacedName && a\.uid === b\.uid/u,
      to: 'false',
    },
  },
  {
    name: 'usedIsoPruned',
    breaks: 'no ISO is removed that is in a drive',
    caughtBy: 'an ISO is replaced that is in the drive of a VM',
    activity: {
      file: 'activities/agents/iso/prune-isos.ts',
      from: /const isInUse = inUse\.has\(file\);/u,
      to: 'const isInUse = false;',
    },
  },
  {
    name: 'nameBelieved',
    breaks: 'a hostname is believed only where no identity contradicts it',
    caughtBy: 'another host has the name of a VM',
    activity: {
      file: 'contracts/agent-pool/match-agents.ts',
      from: /agent\.hostname === vm\.vmName && isSame\(vm, agent\) !== false/u,
      to: 'agent.hostname === vm.vmName',
    },
  },
  {
    name: 'nodeNotAsked',
    breaks: 'where the deletion of a Machine was not observed, its Node says whether its VM goes',
    caughtBy: 'a Machine went while drover was down, and its Node is there',
    activity: {
      file: 'contracts/agent-pool/judge-release.ts',
      from: /return nodes\.some\(\(node\) => isNodeOf\(judged, node\)\) \?/u,
      to: 'return false ?',
    },
  },
  {
    name: 'strayThatIsOn',
    breaks: 'a VM that is on and has no VsphereAgent waits for a user',
    caughtBy: 'a VsphereAgent is lost while its VM is a Node',
    activity: {
      file: 'activities/agents/agent-pool/look-at-vcenter.ts',
      from: /\(!vm\.isOn && vm\.createdMs !== null\) \|\| approved/u,
      to: 'true || approved',
    },
  },
];
