import { findCondition } from '../../contracts/conditions.ts';
import { virtualMachineConditions } from '../../contracts/virtual-machine/conditions.ts';
import { extraConfigKeys, readPolicyTags } from '../../contracts/virtual-machine/metadata.ts';
import { inventory } from '../../lab/vsphere/handle.ts';
import {
  installPolicyEvaluations,
  playPolicies,
  type PolicyPlayer,
  policyReference,
} from '../../lab/vsphere/policy-player.ts';
import { resourcePath } from '../../runtime/kubernetes/resource-path.ts';
import { checkInvariants } from '../invariants.ts';
import { unlessAbsent } from './clear-leftovers.ts';
import { until } from './until.ts';
import type { VmWorld } from './virtual-machine-world.ts';
import { namespace, openVmWorld } from './virtual-machine-world.ts';
import { startTimeoutMs } from './vsphere-world.ts';
import { limitMs } from './world-base.ts';

/** Policies of VMs, by drover's own worker and bridge; their controller is played by lab/vsphere/policy-player.ts. */

const reconciled = /^True Reconciled/u;
const evaluations = 'policyevaluations';

function open(prepare: (api: VmWorld['api']) => Promise<void>): () => VmWorld {
  let world: VmWorld | undefined;
  beforeAll(async () => {
    world = await openVmWorld({ prepare });
  }, startTimeoutMs);
  afterAll(() => world?.close(), limitMs);
  const get = (): VmWorld => {
    if (world === undefined) throw new Error('the world is not open');
    return world;
  };
  afterEach(() => checkInvariants(get().observed), limitMs);
  return get;
}

const conditionOf = async (world: VmWorld, name: string) =>
  findCondition((await world.read(name))?.status?.conditions, virtualMachineConditions.policiesSynced);

describe('where the cluster serves the kind', () => {
  let player: PolicyPlayer;
  // Before the world is closed, whose clock it waits by.
  afterAll(() => player?.stop(), limitMs);
  const world = open(installPolicyEvaluations);
  beforeAll(() => {
    player = playPolicies({ kubernetes: world().api, namespace });
  });

  const tagsOf = async (name: string): Promise<string[]> =>
    (await world().vcenter.listTags(`${inventory.vmFolder}/${namespace}/${name}`)).toSorted();
  const notedOf = async (name: string): Promise<string[]> => {
    const vm = await world().vcenter.describeVm(`${inventory.vmFolder}/${namespace}/${name}`);
    return readPolicyTags(Object.fromEntries((vm?.config.extraConfig ?? []).map(({ key, value }) => [key, value])));
  };

  test(
    'a VM gets and loses the tags of its policies while it runs, and those of others stay',
    async () => {
      const { vcenter, create, change, read, untilReported } = world();
      const [bronze, silver, gold] = [
        await vcenter.createTag('bronze'),
        await vcenter.createTag('silver'),
        await vcenter.createTag('gold'),
      ];
      await create('changing');
      await untilReported('changing', reconciled);
      expect(await conditionOf(world(), 'changing')).toBeUndefined();

      player.define('metal', [bronze, silver]);
      await change('changing', { spec: { policies: [policyReference('metal')] } });
      await untilReported('changing', reconciled);
      expect(await tagsOf('changing')).toEqual(['bronze', 'silver']);
      expect((await read('changing'))?.status?.policies).toEqual([{ ...policyReference('metal'), generation: 1 }]);
      expect((await conditionOf(world(), 'changing'))?.status).toBe('True');

      // No spec has changed: the bridge tells of the evaluation.
      player.define('metal', [silver, gold]);
      await until('the tags of the policy as it is now', 40_000, async () => {
        const { policies: [policy] = [] } = (await read('changing'))?.status ?? {};
        return policy?.generation === 2 || `generation ${policy?.generation}`;
      });
      expect(await tagsOf('changing')).toEqual(['gold', 'silver']);
      expect(await notedOf('changing')).toEqual([silver, gold].toSorted());

      await change('changing', { spec: { policies: null } });
      await untilReported('changing', reconciled);
      await until('nothing to be said of policies', 40_000, async () => {
        const { policies = [] } = (await read('changing'))?.status ?? {};
        return (policies.length === 0 && (await conditionOf(world(), 'changing')) === undefined) || 'not yet';
      });
      expect([await tagsOf('changing'), await notedOf('changing')]).toEqual([[], []]);
      await world().remove('changing');
      await untilReported('changing', /^gone/u);
    },
    limitMs,
  );

  test(
    'one that is made waits for its policies, and has their tags in the call that makes it',
    async () => {
      const { vcenter, control, create, read, untilReported } = world();
      await create('waiting', { policies: [policyReference('late')] });
      await untilReported('waiting', /^Unknown WaitingForPolicies: .*there is no ComputePolicy late/u);
      expect(await conditionOf(world(), 'waiting')).toMatchObject({ reason: 'PolicyEvaluationNotReady' });
      expect(await world().witness('waiting')).toBeNull();
      await control.clearRequests();
      const tag = await vcenter.createTag('late');
      player.define('late', [tag]);
      await untilReported('waiting', reconciled);
      const [request] = (await control.requests()).filter(({ method }) => method === 'CloneVM_Task');
      expect(request?.soapAction).toContain('urn:vim25/9.1.0.0');
      expect(request?.body).toContain(`<tagSpecs><operation>add</operation><id><uuid>${tag}</uuid></id></tagSpecs>`);
      expect(request?.body).toContain(`<key>${extraConfigKeys.policyTags}</key>`);
      expect(await notedOf('waiting')).toEqual([tag]);
      expect((await read('waiting'))?.status?.policies).toEqual([{ ...policyReference('late'), generation: 1 }]);
      await world().remove('waiting');
      await untilReported('waiting', /^gone/u);
    },
    limitMs,
  );
});

describe('where it does not', () => {
  const world = open(async (api) => {
    // A simulation serves it from the start.
    const name = `${evaluations}.vsphere.policy.vmware.com`;
    const path = resourcePath('apiextensions.k8s.io/v1', 'customresourcedefinitions', { name });
    await unlessAbsent(() => api.request({ method: 'DELETE', path }, AbortSignal.timeout(10_000)));
  });

  test(
    'policies are refused, and the VM is made when they are taken out of its spec',
    async () => {
      const { create, change, read, untilReported } = world();
      await create('refused', { policies: [policyReference('metal')] });
      await untilReported('refused', /^False NotSupported: .*the cluster serves no PolicyEvaluation/u);
      const { conditions } = (await read('refused'))?.status ?? {};
      expect(findCondition(conditions, virtualMachineConditions.specSupported)).toMatchObject({ status: 'False' });
      expect(await world().witness('refused')).toBeNull();
      await change('refused', { spec: { policies: [] } });
      await untilReported('refused', reconciled);
      await world().remove('refused');
      await untilReported('refused', /^gone/u);
    },
    limitMs,
  );
});
