import { hasEnded } from '../../activities/nova/judge-migration.ts';
import { commands } from '../../workflows/eviction/commands.ts';
import { askToStop } from '../../workflows/eviction/state.ts';
import { cancelChild } from './child.ts';
import { startRun, terminate, wake } from './eviction.ts';
import type { Server } from './nova.ts';
import { migrate, onHost, returns, statusOf } from './nova.ts';
import { wipe } from './region.ts';
import type { PlannedEvent } from './scenario.ts';
import { takeDown } from './calls.ts';
import type { EvictionObject, Run, Simulation } from './simulation.ts';

const minuteMs = 60_000;

export const openRun = (sim: Simulation, object: EvictionObject): Run | undefined => sim.runs.findLast((run) => run.object === object && run.stage !== 'closed');

/** The bridge tells the run of a change, or starts one where there is something to do. */
export function signal(sim: Simulation, object: EvictionObject): void {
  sim.clock.at(sim.clock.nowMs + 50 + sim.random() * 200, () => {
    const run = openRun(sim, object);
    if (run === undefined) {
      if (!object.gone && !object.settled) startRun(sim, object);
      return;
    }
    run.readAtMs ??= 0;
    wake(sim, run);
  });
}

export function addServer(sim: Simulation, host: string, over: Partial<Server> & { vmState?: string; memoryMiB?: number; group?: boolean } = {}): Server {
  const { nova } = sim;
  const on = nova.hosts.get(host)!;
  const id = `${host}-${on.made}`;
  on.made += 1;
  const { vmState = 'active', memoryMiB = 512, group = false, fates = [] } = over;
  const server: Server = {
    instance: { id, name: `vm-${id}`, status: statusOf[vmState] ?? 'ACTIVE', taskState: null, vmState, host, locked: false, memoryMiB, vcpus: 1, localDiskGiB: 0, serverGroups: group ? ['group'] : [], fault: null },
    fates: [...fates], migrations: [], fate: 'ok', restsAs: vmState,
  };
  nova.servers.set(id, server);
  return server;
}

/** One thing happens: somebody does something, or something breaks. */
export function happen(sim: Simulation, { what, who, which }: PlannedEvent): void {
  const { clock, nova, watch, random } = sim;
  const object = sim.objects[who % sim.objects.length]!;
  const { desired } = object;
  const host = desired.hypervisor;
  const run = openRun(sim, object);
  const known = run === undefined ? [] : Object.values(run.state.instances);
  const chosen = known[which % Math.max(1, known.length)];
  const here = onHost(nova, host);
  const server = here[which % Math.max(1, here.length)];
  const isIdle = server !== undefined && server.instance.taskState === null && server.instance.vmState !== 'resized' && server.migrations.every(hasEnded);

  /** A command, if the run takes it: one that it refuses leaves it as it was. */
  const command = (order: (run: Run) => string): void => {
    if (run === undefined || run.stage === 'opening' || run.state.end !== null) return;
    try {
      order(run);
    } catch {
      return;
    }
    wake(sim, run);
  };
  const edit = (change: () => void): void => {
    if (object.gone) return;
    change();
    desired.generation += 1;
    object.settled = false;
    signal(sim, object);
  };

  switch (what) {
    case 'pause': return command((one) => commands.pause(one, { by: 'ann' }, clock.nowMs));
    case 'resume': return command((one) => commands.resume(one, { by: 'ann' }, clock.nowMs));
    case 'skip':
      if (chosen !== undefined) command((one) => {
        const answer = commands.skipInstance(one, { instance: chosen.instance.id, by: 'ann' }, clock.nowMs);
        watch.skipped.add(`${host}/${chosen.instance.id}`);
        return answer;
      });
      return;
    case 'retryInstance':
      if (chosen !== undefined) command((one) => {
        const answer = commands.retryInstance(one, { instance: chosen.instance.id, by: 'ann' }, clock.nowMs);
        watch.skipped.delete(`${host}/${chosen.instance.id}`);
        return answer;
      });
      return;
    case 'setParallelism': return command((one) => commands.setParallelism(one, { parallelism: 1 + (which % 4), by: 'ann' }, clock.nowMs));
    case 'acceptObstacle': return command((one) => commands.acceptObstacle(one, { obstacle: one.state.obstacles[which % Math.max(1, one.state.obstacles.length)]?.id ?? 'none', by: 'ann' }, clock.nowMs));
    case 'cancel': return command((one) => commands.cancelEviction(one, { by: 'ann' }, clock.nowMs));
    case 'abort': return command((one) => commands.cancelEviction(one, { by: 'ann', abort: true }, clock.nowMs));
    case 'cancelReEnable': return command((one) => commands.cancelEviction(one, { by: 'ann', reEnable: true }, clock.nowMs));
    case 'retryNow': return command((one) => commands.retryNow(one, {}, clock.nowMs));
    case 'retry': return edit(() => undefined);

    case 'delete':
      if (object.gone || desired.deleting) return;
      watch.deletedMs.set(object, clock.nowMs);
      return edit(() => void (desired.deleting = true));
    case 'editCause': return edit(() => void (desired.cause = (['admin', 'rolling-update', 'termination', 'decommission'] as const)[which % 4]!));
    case 'editMode': return edit(() => void (desired.mode = which % 2 === 0 ? 'observe' : 'act'));
    case 'editParallelism': return edit(() => void (desired.parallelism = 1 + (which % 4)));
    case 'editAccepted': return edit(() => void (desired.acceptedObstacles = which % 3 === 0 ? [] : sim.scenario.evictions[sim.objects.indexOf(object)]!.servers.flatMap(({ obstacle }, index) => (obstacle === null ? [] : [`${obstacle}/${host}-${index}`]))));

    case 'strangerEnables': return void Object.assign(nova.hosts.get(host)!.service, { status: 'enabled', disabledReason: null });
    case 'strangerDisables': return void Object.assign(nova.hosts.get(host)!.service, { status: 'disabled', disabledReason: 'by a stranger' });
    case 'arrives': return void addServer(sim, host);
    case 'comesBack': {
      const away = [...nova.servers.values()].find(({ instance, migrations }) => instance.id.startsWith(`${host}-`) && instance.host !== host && instance.taskState === null && migrations.every(hasEnded));
      if (away === undefined) return;
      away.instance.host = host;
      return returns(nova, away);
    }
    case 'vanishes':
      if (server === undefined) return;
      for (const migration of server.migrations) if (!hasEnded(migration)) migration.status = 'error';
      nova.servers.delete(server.instance.id);
      return nova.changed();
    case 'busy':
      if (!isIdle) return;
      server.instance.taskState = 'rebooting';
      return clock.at(clock.nowMs + (which % 2 === 0 ? 2 : 20) * minuteMs, () => {
        if (server.instance.taskState === 'rebooting') server.instance.taskState = null;
        nova.changed();
      });
    case 'stops':
      if (!isIdle || server.instance.vmState !== 'active') return;
      server.restsAs = 'stopped';
      return void Object.assign(server.instance, { vmState: 'stopped', status: 'SHUTOFF' });
    case 'strangerMigrates': return isIdle ? void migrate(nova, clock, random, server, 'live') : undefined;
    case 'strangerResizes': return isIdle ? void migrate(nova, clock, random, server, 'resize') : undefined;
    case 'ghost':
      nova.hosts.get(host)!.ghosts.push('ghost');
      return which % 2 === 0 ? undefined : clock.at(clock.nowMs + 5 * minuteMs, () => void nova.hosts.get(host)!.ghosts.pop());
    case 'rebooted': return void (object.rebooted = true);

    case 'novaDown': return takeDown(sim, 'nova', (which % 3 === 0 ? 0.5 : which) * minuteMs);
    case 'kubernetesDown': return takeDown(sim, 'kubernetes', (which % 3 === 0 ? 0.5 : which) * minuteMs);
    case 'droverStop': return void (sim.stopUntilMs = Math.max(sim.stopUntilMs, clock.nowMs + which * minuteMs));
    case 'terminate':
      if (run === undefined) return;
      terminate(sim, run);
      return clock.at(clock.nowMs + which * 1_000, () => signal(sim, object));
    case 'cancelRun':
      if (run === undefined) return;
      run.cancelled = true;
      if (run.stage !== 'opening') askToStop(run.state, 'a cancel of the run', clock.nowMs);
      return wake(sim, run);
    case 'cancelChild': {
      const child = [...(run?.moves.values() ?? [])].find((one) => one !== null);
      if (child !== undefined && sim.children.get(child.input.instance.id) === child) cancelChild(sim, child);
      return;
    }
    case 'grownOld':
      if (run === undefined) return;
      run.old = true;
      return wake(sim, run);
    case 'wipeLedger': return wipe(sim);
    case 'reportsLost': return void (sim.reportsFailUntilMs.lost = clock.nowMs + which * minuteMs);
    case 'reportsUnconfirmed': return void (sim.reportsFailUntilMs.unconfirmed = clock.nowMs + which * minuteMs);
  }
}
