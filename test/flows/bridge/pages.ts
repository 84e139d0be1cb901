import { hypervisorId, nodeMetadata, virtualMachineId } from '../../../contracts/ids.ts';
import { applyObject, objectPath } from '../../../lab/kubernetes-objects.ts';
import type { BridgeOptions } from '../bridge-base.ts';
import { quickSettings } from '../bridge-base.ts';
import type { LabBridge, LabBridgeWorld } from '../bridge-world.ts';
import { until } from '../until.ts';

const kvm = 'kvm.cloud.sap/v1';
const vmoperator = 'vmoperator.vmware.com/v1alpha6';
const namespace = 'default';
const { modes } = quickSettings;
const hypervisors: BridgeOptions = { settings: { modes: { ...modes, Hypervisor: 'act' } } };
const machines: BridgeOptions = { settings: { modes: { ...modes, Eviction: 'off', VirtualMachine: 'act' } } };

/** The bridge's pages over HTTP: whether it is well, and what Prometheus scrapes. */
export const describePages = (world: () => LabBridgeWorld): void =>
  describe('pages', () => {
    const get = ({ healthUrl }: LabBridge, path: string): Promise<Response> => fetch(`${healthUrl}${path}`);
    const textOf = async (bridge: LabBridge, path: string): Promise<string> => await (await get(bridge, path)).text();
    const jsonOf = async (bridge: LabBridge, path: string): Promise<unknown> => await (await get(bridge, path)).json();
    const inProgress = (kind: string, count: number): RegExp =>
      new RegExp(`^drover_unreconciled_objects\\{[^}]*kind="${kind}"[^}]*\\} ${count}$`, 'mu');

    test('they say what is, answer nothing else, and end with the bridge', async () => {
      const bridge = await world().leadingBridge();
      expect(await jsonOf(bridge, '/healthz')).toEqual({ ok: true, reasons: [] });
      expect(await jsonOf(bridge, '/readyz')).toMatchObject({
        ok: true,
        reasons: [],
        lease: { held: true },
        kinds: { Eviction: { synced: true, error: null } },
        queue: { fresh: 0 },
      });
      const answers = await Promise.all(['/healthz', '/readyz', '/other'].map((path) => get(bridge, path)));
      expect(answers.map(({ status }) => status)).toEqual([200, 200, 404]);
      await bridge.stop();
      await expect(get(bridge, '/readyz')).rejects.toThrow('fetch failed');
    });

    test('an address in use is reported in one sentence', async () => {
      const { healthUrl } = await world().leadingBridge();
      const { host } = new URL(healthUrl);
      await expect(world().bridge({ settings: { healthAddress: host } })).rejects.toMatchObject({
        type: 'InvalidConfiguration',
        message: expect.stringContaining(host),
      });
    });

    test('of hypervisors they show every kind once', async () => {
      const name = 'host-of-pages';
      const { admin, request, signalled } = world();
      const bridge = await world().leadingBridge(hypervisors);
      const labels = { [nodeMetadata.virtDriver]: 'libvirt' };
      await applyObject(admin, { apiVersion: 'v1', kind: 'Node', metadata: { name, labels } });
      await signalled(name, 1, 15_000, hypervisorId(name));
      const kinds = { Eviction: { synced: true }, Hypervisor: { synced: true }, Node: { synced: true, objects: 1 } };
      expect(await jsonOf(bridge, '/readyz')).toMatchObject({ ok: true, kinds });
      const page = await textOf(bridge, '/metrics');
      expect(page).toMatch(inProgress('Node', 1));
      expect(page).toMatch(/^drover_bridge_lists_total\{[^}]*kind="Hypervisor"[^}]*\} 1$/mu);

      const hypervisor = { apiVersion: kvm, kind: 'Hypervisor', metadata: { name } };
      await applyObject(admin, { ...hypervisor, spec: {} });
      await signalled(name, 2, 15_000, hypervisorId(name));
      const lifecycle = {
        type: 'Lifecycle',
        status: 'True',
        reason: 'Active',
        message: 'Active',
        observedGeneration: 1,
      };
      const conditions = [{ ...lifecycle, lastTransitionTime: '2026-01-01T00:00:00Z' }];
      const status = { numInstances: 0, conditions };
      await request('PATCH', objectPath(hypervisor, 'status'), { status }, { fieldManager: 'drover' });
      await until('both to be reconciled', 15_000, async () => {
        const text = await textOf(bridge, '/metrics');
        return inProgress('Node', 0).test(text) && inProgress('Hypervisor', 0).test(text) ? {} : 'not yet';
      });
    });

    test('of VMs they show every kind, and each by namespace and name', async () => {
      const name = 'vm-of-pages';
      const { admin, signalled } = world();
      const bridge = await world().leadingBridge(machines);
      const hardware = { cpus: 1, memory: '1Gi' };
      const metadata = { namespace, name: 'small' };
      await applyObject(admin, { apiVersion: vmoperator, kind: 'VirtualMachineClass', metadata, spec: { hardware } });
      const machine = { apiVersion: vmoperator, kind: 'VirtualMachine', metadata: { namespace, name } };
      await applyObject(admin, { ...machine, spec: {} });
      await signalled(name, 1, 15_000, virtualMachineId(namespace, name));
      expect(await jsonOf(bridge, '/readyz')).toMatchObject({
        ok: true,
        kinds: {
          VirtualMachine: { synced: true, objects: 1 },
          VirtualMachineClass: { synced: true, objects: 1 },
          VirtualMachineImage: { synced: true },
          ClusterVirtualMachineImage: { synced: true },
        },
      });
      const page = await textOf(bridge, '/metrics');
      expect(page).toMatch(inProgress('VirtualMachine', 1));
      expect(page).toMatch(/^drover_objects\{[^}]*kind="VirtualMachineClass"[^}]*\} 1$/mu);
      expect(page).toContain(`object="${namespace}/${name}"`);
    });
  });
