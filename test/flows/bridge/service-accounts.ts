import { kubectl, run } from '../../../lab/kubectl.ts';
import type { LabBridgeWorld } from '../bridge-world.ts';

/** What deploy/rbac lets the service accounts do, as the real kube-apiserver decides. */
export const describeServiceAccounts = (world: () => LabBridgeWorld): void =>
  describe('what the service accounts may do', () => {
    const can = async (account: string, ...what: string[]): Promise<string> => {
      const { kubernetes } = world().lab.handles;
      const asked = ['auth', 'can-i', '--as', `system:serviceaccount:drover-system:${account}`, ...what];
      const { stdout } = await run(kubernetes.kubectl, asked, { env: { KUBECONFIG: kubernetes.kubeconfig } });
      return stdout.trim();
    };
    const inSystem = ['-n', 'drover-system'];

    test.each([
      ['drover-bridge', 'yes', ['watch', 'evictions.kvm.cloud.sap']],
      ['drover-bridge', 'yes', ['list', 'hypervisors.kvm.cloud.sap']],
      ['drover-bridge', 'yes', ['patch', 'evictions.kvm.cloud.sap', '--subresource=status']],
      ['drover-bridge', 'yes', ['update', 'leases.coordination.k8s.io/drover-bridge', ...inSystem]],
      ['drover-bridge', 'no', ['update', 'leases.coordination.k8s.io/other', ...inSystem]],
      ['drover-bridge', 'no', ['update', 'leases.coordination.k8s.io/drover-bridge', '-n', 'default']],
      ['drover-bridge', 'no', ['patch', 'evictions.kvm.cloud.sap']],
      ['drover-bridge', 'no', ['create', 'evictions.kvm.cloud.sap']],
      ['drover-bridge', 'no', ['delete', 'evictions.kvm.cloud.sap']],
      ['drover-bridge', 'no', ['patch', 'hypervisors.kvm.cloud.sap', '--subresource=status']],
      ['drover-bridge', 'no', ['get', 'secrets', ...inSystem]],
      ['drover-bridge', 'yes', ['watch', 'nodes']],
      ['drover-bridge', 'no', ['patch', 'nodes']],
      ['drover-bridge', 'no', ['patch', 'nodes', '--subresource=status']],
      ['drover-worker', 'yes', ['create', 'evictions.kvm.cloud.sap']],
      ['drover-worker', 'yes', ['patch', 'evictions.kvm.cloud.sap', '--subresource=status']],
      ['drover-worker', 'yes', ['update', 'evictions.kvm.cloud.sap', '--subresource=finalizers']],
      ['drover-worker', 'yes', ['patch', 'migrations.kvm.cloud.sap', '--subresource=status', '-n', 'monsoon3']],
      ['drover-worker', 'yes', ['create', 'migrations.kvm.cloud.sap', '-n', 'monsoon3']],
      ['drover-worker', 'yes', ['get', 'nodes']],
      ['drover-worker', 'yes', ['create', 'events.events.k8s.io', '-n', 'default']],
      ['drover-worker', 'yes', ['get', 'configmaps/drover-stop', ...inSystem]],
      ['drover-worker', 'no', ['get', 'configmaps/other', ...inSystem]],
      ['drover-worker', 'no', ['patch', 'configmaps/drover-stop', ...inSystem]],
      // The Eviction of a maintenance that is over; only one that a Hypervisor controls.
      ['drover-worker', 'yes', ['delete', 'evictions.kvm.cloud.sap']],
      ['drover-worker', 'no', ['deletecollection', 'evictions.kvm.cloud.sap']],
      ['drover-worker', 'yes', ['patch', 'hypervisors.kvm.cloud.sap']],
      ['drover-worker', 'no', ['delete', 'hypervisors.kvm.cloud.sap']],
      // deploy/rbac/drain-guard.yaml: the one taint.
      ['drover-worker', 'yes', ['patch', 'nodes']],
      ['drover-worker', 'no', ['patch', 'nodes', '--subresource=status']],
      ['drover-worker', 'no', ['delete', 'nodes']],
      ['drover-worker', 'no', ['get', 'secrets', ...inSystem]],
    ])('%s: %s, %j', async (account, answer, what) => {
      expect(await can(account, ...what)).toBe(answer);
    });

    test('kubectl shows the role that is checked in', async () => {
      const shown = ['get', 'clusterrole', 'drover-bridge', '-o', 'jsonpath={.rules[*].verbs}'];
      const roles = await kubectl(world().lab.handles.kubernetes, shown);
      expect(roles).toBe('["get","list","watch"] ["patch"] ["list","watch"] ["list","watch"]');
    });
  });
