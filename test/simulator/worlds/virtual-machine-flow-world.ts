import { setLabClock } from '../../../lab/clock.ts';
import { loadCommands } from '../../../starters/main.ts';
import { setUpVmNamespace } from '../../../lab/vsphere/vm-fixture.ts';
import { watchEventsOf } from '../../fakes/kubernetes/eviction-log.ts';
import { makeVm, watchVm } from '../../faults/virtual-machine-objects.ts';
import type { VmBase, VmWorldOptions } from '../../flows/virtual-machine-base.ts';
import { commandEnv, namespace, settingsOf, stranger } from '../../flows/virtual-machine-base.ts';
import type { Snapshot } from '../../invariants/snapshot.ts';
import { loadWorkflows } from '../bundle.ts';
import { simulatedCommand } from '../command.ts';
import { deploy } from '../deployment.ts';
import { nothingReal, passTime, seed, simulatedDrover } from './flow-world.ts';
import { simulatedKubectl } from '../kubectl.ts';
import { snapshotOf } from '../snapshot.ts';

/** A world of VMs without a lab: drover's own worker and bridge over a kube-apiserver and a vCenter in memory. */
export async function openSimulatedVmBase(options: VmWorldOptions): Promise<VmBase> {
  const { bridge = true } = options;
  const deployment = deploy({
    bundle: await loadWorkflows(),
    seed,
    parts: ['vsphere'],
    settings: settingsOf(options),
    bridge,
  });
  const { simulation, kubernetes, vcenter } = deployment;
  if (vcenter === null) throw new Error('there is no vCenter');
  setLabClock(simulation.clock);
  const { witness, control } = vcenter;
  const { client } = simulation;
  const api = kubernetes.admin;
  await setUpVmNamespace(api, witness, namespace);
  await makeVm(witness, namespace, stranger);
  await options.prepare?.(api);
  // Ahead: it takes the machine's time, during which virtual time would pass.
  await loadCommands();
  const stop = passTime(deployment);
  const sinceMs = simulation.clock.now();
  const vms = { namespace, strangers: [await watchVm(witness, namespace, stranger)] };
  const planted: VmBase['observed']['planted'] = [];
  const drover = simulatedDrover(deployment, bridge);
  const look = async (): Promise<Snapshot> => {
    const seen = { sinceMs, expected: new Map(), ownChanges: [], hosts: null, vms };
    const snapshot = await snapshotOf(deployment, seen);
    return { ...snapshot, secrets: [...snapshot.secrets, ...planted] };
  };
  return {
    client,
    api,
    vcenter: witness,
    control,
    drover,
    observed: {
      lab: { handles: nothingReal('handles') },
      drover,
      dir: drover.dir,
      api,
      client,
      sinceMs,
      objectLog: { events: watchEventsOf(kubernetes) },
      vms,
      planted,
      readSnapshot: look,
    },
    kubectl: (args, input) => simulatedKubectl(api, args, input),
    command: (args) => simulatedCommand(deployment, args, commandEnv),
    texts: async () => (await look()).texts,
    async close() {
      await stop();
      deployment.close();
      setLabClock(null);
    },
  };
}
