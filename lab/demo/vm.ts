import type { Client } from '@temporalio/client';
import { virtualMachineId } from '../../contracts/ids.ts';
import { systemClock } from '../../runtime/clock.ts';
import type { Kubernetes } from '../../runtime/kubernetes/kubernetes.ts';
import { connectKubernetes } from '../../runtime/kubernetes/kubernetes.ts';
import { connectClient, readTemporalSettings } from '../../runtime/temporal/temporal.ts';
import { checkoutDirectory } from '../context.ts';
import { run } from '../kubectl.ts';
import { formatDuration } from '../progress.ts';
import { govc } from '../vsphere/govc.ts';
import { inventory } from '../vsphere/handle.ts';
import { witnessVm } from '../vsphere/vm-fixture.ts';
import { diskFolder, playVolumes } from '../vsphere/volume-player.ts';
import { openGovcWitness } from '../vsphere/witness.ts';
import type { Ending, StoryContext, Story } from './story.ts';
import { describeVm, followVm, readVm } from './vm-follow.ts';
import type { VmLab } from './vm-fixture.ts';
import { setUpVm, vm, vmSettings } from './vm-fixture.ts';
import type { VmStep } from './vm-steps.ts';
import { typed, vmSteps } from './vm-steps.ts';
import { judgeVmStep } from './vm-verdict.ts';

/** Far more than any step takes. */
const patienceMs = 90_000;

const folder = `${inventory.vmFolder}/${vm.namespace}`;
const workflowId = virtualMachineId(vm.namespace, vm.name);

/** A virtual machine from the first to the last; after each change govc shows what the vCenter has. */
export const vmStory: Story<'vsphere'> = {
  intro: `drover makes a virtual machine with a volume on vSphere, switches it on, resizes it and deletes it: real Temporal and Kubernetes, and a vCenter that
is govmomi’s simulator, with tasks slowed down to seconds. What the vSphere CSI driver does is played. After each change govc, an independent client, shows what is there.
The first time they are built, which takes some minutes; then it is seconds.
`,
  parts: ['vsphere'],
  fresh: ['vsphere'],
  async run(lab, stage) {
    await stage.step(
      `a folder in vCenter and a namespace in Kubernetes, both called ${vm.namespace}, with classes and an image`,
      () => setUpVm(lab),
    );
    await stage.step('a drover worker and a drover bridge', () => stage.startDrover(vmSettings(lab)));
    const api = connectKubernetes({ kubeconfig: lab.handles.kubernetes.kubeconfig });
    const client = await connectClient(readTemporalSettings(lab.exports), { clock: systemClock });
    // In the place of the vSphere CSI driver.
    const player = playVolumes({
      kubernetes: api,
      witness: openGovcWitness(lab.handles.vsphere),
      namespace: vm.namespace,
    });
    try {
      return await runSteps(stage, lab, api, client);
    } finally {
      await player.stop();
      await client.connection.close();
      await api.close();
    }
  },
};

async function runSteps(stage: StoryContext, lab: VmLab, api: Kubernetes, client: Client): Promise<Ending> {
  const completed: string[] = [];
  for (const [index, one] of vmSteps.entries()) {
    stage.say(`\n${index + 1} of ${vmSteps.length}. ${one.title}\n`);
    const { wrong, tookMs } = await runStep(stage, lab, api, one);
    stage.say(`  run     ${await linkToRun(lab, client)}`);
    // What comes next builds on it.
    if (wrong.length > 0) return { wrong, summary: `${vm.name} was ${[...completed, `not ${one.action}`].join(', ')}` };
    completed.push(`${one.action} in ${formatDuration(tookMs)}`);
    if (one.expected?.waits !== undefined) await printStatus(stage);
  }
  printLinks(stage, lab);
  return { wrong: [], summary: `${vm.name} was ${completed.join(', ')}; govc saw all of it` };
}

/** Requests one change, follows it, and compares both sides. */
async function runStep(
  { say, interrupted: signal }: StoryContext,
  lab: VmLab,
  api: Kubernetes,
  stage: VmStep,
): Promise<{ wrong: string[]; tookMs: number }> {
  const { kubernetes, vsphere } = lab.handles;
  const startedMs = performance.now();
  const sinceStart = (): string => formatDuration(performance.now() - startedMs).padStart(8);
  say(`$ kubectl ${typed(stage.command)}`);
  const { code, stdout, stderr } = await run(
    kubernetes.kubectl,
    stage.command.map((arg) => arg.replace(/^lab\//u, `${checkoutDirectory}/lab/`)),
    { env: { KUBECONFIG: kubernetes.kubeconfig } },
  );
  say((stdout + stderr).trim());
  if (code !== 0) return { wrong: [`${stage.action}: kubectl ended with ${String(code)}`], tookMs: 0 };
  const arrived = await followVm(api, {
    patienceMs,
    signal,
    report: (state, message) => say(`${sinceStart()}  ${state}: ${message}`),
  });
  const tookMs = performance.now() - startedMs;
  const object = await readVm(api, signal);
  if (object === null) say(`${sinceStart()}  the object is gone`);
  const witness = openGovcWitness(vsphere);
  const witnessed = await witnessVm(witness, vm.namespace, vm.name);
  const inFolder = await witness.find('vm', folder);
  const disks = (await witness.listVms(vm.namespace)).find(({ name }) => name === vm.name)?.disks ?? [];
  const volumes = disks.filter((disk) => disk.includes(`] ${diskFolder}/`));
  // Each disk is a descriptor and what that describes.
  const files = (await witness.listFiles({ datastore: 'LocalDS_0', path: diskFolder })).filter(
    (file) => !file.endsWith('-flat.vmdk'),
  );
  say(`  object  ${(object === null ? ['there is none'] : describeVm(object)).join('\n          ')}`);
  say(
    witnessed === null
      ? `$ govc find ${folder} -type m\n${inFolder.join('\n') || '  (nothing)'}`
      : [
          `$ govc vm.info ${folder}/${vm.name}`,
          await infoOf(vsphere),
          ...volumes.map((disk) => `  Volume:       ${disk}`),
        ].join('\n'),
  );
  const late = arrived ? [] : [`${stage.action}: not within ${formatDuration(patienceMs)}`];
  const wrong = [...late, ...judgeVmStep(stage, { object, witnessed, inFolder, volumes, files })];
  say(
    wrong.length === 0
      ? `  ✓ ${stage.action} in ${formatDuration(tookMs)}, and govc says so too`
      : wrong.map((line) => `  ✗ ${line}`).join('\n'),
  );
  return { wrong, tookMs };
}

/** The lines of govc's output that a step can change. */
async function infoOf(vsphere: VmLab['handles']['vsphere']): Promise<string> {
  const lines = (await govc(vsphere, 'vm.info', `${folder}/${vm.name}`)).split('\n');
  return lines.filter((line) => /^\s*(?:Name|UUID|CPU|Memory|Power state|Boot time|Host):/u.test(line)).join('\n');
}

async function linkToRun(lab: VmLab, client: Client): Promise<string> {
  const { runId } = await client.workflow.getHandle(workflowId).describe();
  return `${lab.handles.temporal.uiUrl}/namespaces/default/workflows/${encodeURIComponent(workflowId)}/${runId}/history`;
}

async function printStatus({ say, drover }: StoryContext): Promise<void> {
  say();
  await drover('vms');
  say();
  await drover('describe', 'vm', `${vm.namespace}/${vm.name}`);
}

function printLinks({ say }: StoryContext, lab: VmLab): void {
  say(`
See also:
  Web UI    ${lab.handles.temporal.uiUrl}/namespaces/default/workflows/${encodeURIComponent(workflowId)}
  drover    npm run --silent drover -- vms; npm run --silent drover -- describe vm ${vm.namespace}/${vm.name}
  kubectl   kubectl create -f lab/demo/vm.yaml; kubectl get vm -n ${vm.namespace} -w; kubectl describe vm ${vm.name} -n ${vm.namespace}
  govc      govc vm.info ${folder}/${vm.name}; govc tasks
In another terminal: eval "$(npm run --silent lab -- status)"`);
}
