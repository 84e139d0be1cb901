import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { systemClock } from '../../runtime/clock.ts';
import { connectClient, readTemporalSettings } from '../../runtime/temporal/temporal.ts';
import type { CheckedParts } from '../host-check-settings.ts';
import { hostCheckSettings } from '../host-check-settings.ts';
import { kubectl } from '../kubectl.ts';
import type { Server } from '../openstack/seed.ts';
import { listServers } from '../openstack/seed.ts';
import { openSession } from '../openstack/session.ts';
import { formatDuration } from '../progress.ts';
import { hostParts, startHostParts } from './host-parts.ts';
import { addHost, describeChecks, judgeNewHost, readNewHost, reportNewHost } from './new-host.ts';
import type { DemoLab } from './hosts-fixture.ts';
import { countInstances, host, newHost, setUpHosts } from './hosts-fixture.ts';
import { demoSettings } from './settings.ts';
import type { Ending, StoryContext, Story } from './story.ts';
import { formatRemark } from './story.ts';
import { judge } from './verdict.ts';

type HostStoryName = 'host' | 'eviction';

const intros: Readonly<Record<HostStoryName | 'both', string>> = {
  both: 'drover brings a new compute host into service and empties another one: real Temporal, Kubernetes, Nova, libvirt, Open vSwitch and\nCeph on this machine.',
  host: 'drover brings a new compute host into service: real Temporal, Kubernetes, Nova, libvirt, Open vSwitch and Ceph on this machine.',
  eviction: 'drover empties a compute host: real Temporal, Kubernetes and Nova on this machine.',
};

/** A new host comes into service, another one is emptied. @param only null: both */
export const hostsStory = (only: HostStoryName | null): Story<'tctl' | 'openstack'> => ({
  intro: `${intros[only ?? 'both']} The first time they are built, which takes a quarter of an hour; then it is seconds.
A virtual machine on vSphere, without all of it: npm start -- --only vm
`,
  parts: ['tctl', 'openstack'],
  more: hostParts,
  async run(lab, context) {
    const { handles: parts, remarks } =
      only === 'eviction'
        ? { handles: {}, remarks: [] }
        : await startHostParts(lab.dir, newHost, { report: context.say, signal: context.interrupted });
    for (const remark of remarks) context.say(formatRemark(remark));
    const servers = await context.step(only === 'host' ? 'six hosts' : '24 servers on node-1, one of six hosts', () =>
      setUpHosts(lab, { withServers: only !== 'host' }),
    );
    await context.step('a drover worker and a drover bridge', () =>
      context.startDrover(demoSettings(hostCheckSettings(newHost, lab.handles.openstack, parts))),
    );
    const endings: Ending[] = [];
    if (only !== 'eviction') endings.push(await onboard(context, lab, parts));
    if (only !== 'host') endings.push(await evict(context, lab, servers));
    context.say();
    await context.drover('hosts');
    printLinks(context, lab, only);
    return { wrong: endings.flatMap(({ wrong }) => wrong), summary: endings.map(({ summary }) => summary).join('; ') };
  },
});

/** A seventh host comes, and is put into service through its checks. */
async function onboard({ say, drover }: StoryContext, lab: DemoLab, parts: CheckedParts): Promise<Ending> {
  const startedMs = performance.now();
  say(
    `\nA seventh host has been racked. It takes servers when it has shown that it can run them.\n\n$ kubectl create -f lab/demo/node.yaml\n${await addHost(lab, parts)}`,
  );
  await drover('onboard', newHost, '--wait', '--timeout', '3m');
  const hypervisor = await readNewHost(lab);
  await reportNewHost(lab, hypervisor);
  say(`\nIts checks:\n${describeChecks(hypervisor).join('\n')}\n`);
  await drover('hosts');
  const wrong = await judgeNewHost(hypervisor, await openSession(lab.handles.openstack), parts);
  return { wrong, summary: `${newHost} came into service in ${formatDuration(performance.now() - startedMs)}` };
}

/** One that hosts 24 servers is emptied. */
async function evict({ say, drover }: StoryContext, lab: DemoLab, servers: readonly Server[]): Promise<Ending> {
  const { kubernetes, openstack } = lab.handles;
  const manifest = fileURLToPath(new URL('eviction.yaml', import.meta.url));
  say(
    `\n${host} gets new firmware, so all that runs on it goes elsewhere.\n\n$ kubectl create -f lab/demo/eviction.yaml\n${(await kubectl(kubernetes, ['create', '-f', '-'], readFileSync(manifest, 'utf8'))).trim()}`,
  );
  const startedMs = performance.now();
  await drover('watch', host);
  const client = await connectClient(readTemporalSettings(lab.exports), { clock: systemClock });
  const session = await openSession(openstack);
  const { wrong, moved, attemptsOfHanging, notMoved } = await judge(client, session, servers);
  const tookMs = performance.now() - startedMs;
  await client.connection.close();
  await countInstances(kubernetes, await listServers(session));
  return {
    wrong,
    summary: `${moved} of 24 servers left ${host} in ${formatDuration(tookMs)}, the one that hung in ${attemptsOfHanging} attempts; ${notMoved.join(', ') || 'none'} cannot move and was named`,
  };
}

function printLinks({ say }: StoryContext, lab: DemoLab, only: HostStoryName | null): void {
  const of = <Item>(eviction: readonly Item[], onboarding: readonly Item[]): Item[] => [
    ...(only === 'host' ? [] : eviction),
    ...(only === 'eviction' ? [] : onboarding),
  ];
  const runs = of([`eviction/${host}`], [`hypervisor/${newHost}`]).map(
    (id) => `${lab.handles.temporal.uiUrl}/namespaces/default/workflows/${encodeURIComponent(id)}`,
  );
  const objects = [
    'kubectl get hypervisors,evictions',
    ...of([`kubectl describe eviction ${host}`, 'kubectl get migrations -A'], []),
  ];
  const commands = of([`describe ${host}`], [`maintain ${newHost} --reason 'new disks'`]).map(
    (command) => `npm run --silent drover -- ${command}`,
  );
  say(`
See also:
  Web UI    ${runs.join(`\n${' '.repeat(12)}`)}
  kubectl   ${objects.join('; ')}
  drover    ${commands.join('; ')}
In another terminal: eval "$(npm run --silent lab -- status)"`);
}
