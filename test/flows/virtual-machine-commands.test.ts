import { retryHandledAnnotation } from '../../contracts/eviction/annotations.ts';
import { annotations } from '../../contracts/ids.ts';
import { virtualMachineAnnotations } from '../../contracts/virtual-machine/metadata.ts';
import type { CommandEnd } from '../../lab/kubectl.ts';
import { applyObject, mergeObject, objectPath } from '../../lab/kubernetes-objects.ts';
import { vmManifest, vmFixture } from '../../lab/vsphere/vm-fixture.ts';
import { exitCodes } from '../../starters/command/exit-codes.ts';
import type { ListedVirtualMachine } from '../../starters/virtual-machine/listed-virtual-machine.ts';
import type { VirtualMachineDescription } from '../../starters/virtual-machine/virtual-machine-description.ts';
import { checkInvariants } from '../invariants.ts';
import { until } from './until.ts';
import type { VmWorld } from './virtual-machine-world.ts';
import { namespace, openVmWorld } from './virtual-machine-world.ts';
import { startTimeoutMs } from './vsphere-world.ts';
import { limitMs } from './world-base.ts';

/** The commands for virtual machines, as a user types them. No bridge: a run starts when a command says so. */

let world: VmWorld;

beforeAll(async () => {
  world = await openVmWorld({ bridge: false, settings: { virtualMachine: { recheckMs: 60_000 } } });
}, startTimeoutMs);
afterAll(() => world?.close(), limitMs);
afterEach(() => checkInvariants(world.observed), limitMs);

/** Runs the command and expects its exit code; what it printed is in the failure. */
async function drover(exitCode: number, ...args: string[]): Promise<CommandEnd> {
  const end = await world.command(...args);
  if (end.code === exitCode) return end;
  const message = `drover ${args.join(' ')} exited ${String(end.code)}, not ${String(exitCode)}`;
  throw new Error(`${message}\n${end.stdout}${end.stderr}`);
}
const json = async <Shape>(...args: string[]): Promise<Shape> =>
  JSON.parse((await drover(exitCodes.ok, ...args, '--json')).stdout) as Shape;
const described = (): Promise<VirtualMachineDescription> => json('describe', 'vm', 'team-a/web');

const create = async (inNamespace: string, name: string): Promise<void> => {
  await applyObject(world.api, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: inNamespace } });
  await world.make(vmManifest(inNamespace, name, { className: 'missing' }));
};

test(
  'one that waits for its class: listed, described, retried, paused',
  async () => {
    expect((await drover(exitCodes.ok, 'vms')).stdout).toBe('There is no VirtualMachine.\n');
    await create(namespace, 'web');
    expect(await json<ListedVirtualMachine[]>('vms')).toEqual([
      expect.objectContaining({
        namespace,
        name: 'web',
        state: null,
        status: 'unknown',
        needsAttention: false,
        class: 'missing',
        image: vmFixture.image,
        wantedPowerState: 'PoweredOn',
        powerState: null,
      }),
    ]);
    expect((await drover(exitCodes.notFound, 'describe', 'vm', 'team-a/wep')).stderr).toMatch(
      /no VirtualMachine team-a\/wep.*Did you mean team-a\/web\?.*drover vms/su,
    );
    expect((await drover(exitCodes.notFound, 'retry', 'vm', 'elsewhere')).stderr).toMatch(
      /no VirtualMachine elsewhere\. Nothing was changed/u,
    );
    expect((await drover(exitCodes.ok, 'describe', 'vm', 'web')).stdout).toMatch(
      /^team-a\/web: drover has said nothing of this virtual machine yet$.*^ {2}drover retry vm team-a\/web /msu,
    );

    const first = await drover(exitCodes.ok, 'retry', 'vm', 'web', '--as', 'alice');
    expect(first.stdout).toMatch(
      /^VirtualMachine team-a\/web is tried again\. It was no run has said anything of it yet$/mu,
    );
    expect(first.stdout).toMatch(/^WaitingForPrerequisites: Waiting for .*There is no VirtualMachineClass missing/mu);
    const noted = (await world.read('web'))?.metadata.annotations ?? {};
    expect(noted[annotations.retry]).toMatch(/^\d{4}-/u);
    expect(noted[retryHandledAnnotation]).toBe(noted[annotations.retry]);

    const open = await described();
    const page = /^http:\/\/ui\/namespaces\/default\/workflows\/virtualmachine%2Fteam-a%2Fweb\//u;
    expect(open).toMatchObject({
      namespace,
      name: 'web',
      problems: [],
      stops: [],
      run: {
        workflowId: 'virtualmachine/team-a/web',
        status: 'Running',
        endedAt: null,
        ending: null,
        progress: { phase: 'WaitingForPrerequisites', waiting: { untilMs: expect.any(Number) } },
        webUi: expect.stringMatching(page),
      },
    });
    const steps = open.run?.steps.map(({ activity, end, attempts }) => `${activity} ${end ?? 'open'} ${attempts}`);
    // In which vCenter it is, and, with the status, that the retry was taken up.
    expect(steps).toEqual([
      'observeVirtualMachine done 1',
      'patchVirtualMachine done 1',
      'publishVirtualMachine done 1',
    ]);
    expect(open.run?.steps[0]?.summary).toBe('Observe team-a/web: the object, what it names, and its VM');
    const waiting = await json<ListedVirtualMachine[]>('vms', '--state', 'waitingforprerequisites', '-n', namespace);
    expect(waiting).toMatchObject([{ status: 'progressing', message: expect.stringMatching(/^Waiting for /u) }]);
    expect((await drover(exitCodes.ok, 'describe', 'vm', '-n', namespace, 'web')).stdout).toMatch(
      /^Steps of the run$.*Observe team-a\/web: .*^ {2}kubectl get virtualmachineclasses -n team-a /msu,
    );
    // A user of one namespace may still name another one.
    expect((await drover(exitCodes.ok, 'vms', '-n', 'default')).stdout).toBe(
      'There is no VirtualMachine in default.\n',
    );

    // The open run observes at once, and a failure is shown with its next retry.
    await world.control.fail({ method: 'FindAllByUuid', fault: 'NoPermission', count: 100 });
    expect((await drover(exitCodes.ok, 'retry', 'vm', 'team-a/web')).stdout).toBe(
      'VirtualMachine team-a/web is observed again now.\n',
    );
    const failing = await until('the failure to be reported', 60_000, async () => {
      const found = await described();
      return (found.run?.progress?.failed.length ?? 0) > 0 ? found : (found.run?.progress?.message ?? 'no answer');
    });
    const refusal = expect.stringMatching(/NoPermission/u) as string;
    expect(failing.run?.progress?.failed).toEqual([expect.objectContaining({ stage: 'observe', message: refusal })]);
    expect(failing.run?.steps).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ activity: 'observeVirtualMachine', end: 'failed', message: refusal }),
      ]),
    );
    await world.control.reset();

    await world.change('web', { metadata: { annotations: { [virtualMachineAnnotations.paused]: '' } } });
    await drover(exitCodes.ok, 'retry', 'vm', 'team-a/web');
    const paused = await until('the run to rest', 60_000, async () => {
      const found = await described();
      return found.run?.ending === null ? 'open' : found;
    });
    expect(paused.run).toMatchObject({
      status: 'Completed',
      ending: { outcome: 'blocked', message: expect.stringMatching(/pauses it/u) },
      progress: null,
    });
    expect(await json<ListedVirtualMachine[]>('vms', '--attention')).toEqual([]);
    const { stdout } = await drover(exitCodes.ok, 'describe', 'vm', 'team-a/web');
    expect(stdout).toMatch(/^team-a\/web: Paused for .*^ {2}paused +by its annotation$.*, blocked \d+s ago: /msu);
    expect(stdout).toMatch(/^Last steps of the last run$.*^ {2}kubectl annotate vm -n team-a web \S+\/paused- /msu);
  },
  limitMs,
);

test(
  'a name that two namespaces have, and one that is gone',
  async () => {
    await create('other', 'twin');
    await create('another', 'twin');
    expect((await drover(exitCodes.usage, 'describe', 'vm', 'twin')).stderr).toMatch(
      /2 VirtualMachines twin.*another\/twin, other\/twin/su,
    );

    await drover(exitCodes.ok, 'retry', 'vm', 'other/twin');
    const metadata = { namespace: 'other', name: 'twin' };
    const twin = { apiVersion: 'vmoperator.vmware.com/v1alpha6', kind: 'VirtualMachine', metadata };
    await mergeObject(world.api, { ...twin, metadata: { ...metadata, finalizers: null } });
    await world.api.request({ method: 'DELETE', path: objectPath(twin) }, AbortSignal.timeout(10_000));
    expect((await drover(exitCodes.ok, 'describe', 'vm', 'other/twin')).stdout).toMatch(
      /^other\/twin: there is no such VirtualMachine any more$/mu,
    );
    const refused = await drover(exitCodes.notFound, 'retry', 'vm', 'other/twin');
    expect(refused.stderr).toMatch(/Did you mean another\/twin\?/u);
    // There is one of the name now.
    const retried = await drover(exitCodes.ok, 'retry', 'vm', 'twin');
    expect(retried.stdout).toMatch(/^VirtualMachine another\/twin is tried again/u);
  },
  limitMs,
);
