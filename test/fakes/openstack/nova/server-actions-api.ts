import type { Server, VmState } from '../model.ts';
import { novaBroken, novaRefusal, type Routes, type WireAnswer } from '../wire.ts';
import { accepted, askCompute, checkToWrite, findServer, needAdmin, ok, type NovaCall } from './call.ts';
import { conductColdMigration, conductConfirmation, conductReversion } from './cold-migration.ts';
import { startEvacuation } from './evacuation.ts';
import { conductLiveMigration } from './live-migration.ts';
import { changeServer, hostNamed, isHostUp, power, setStatus, startAction } from './records.ts';
import { hostnameOf } from './views.ts';
import { isBoundByTpm } from './vtpm.ts';

type Action = (call: NovaCall, server: Server, body: never) => WireAnswer | Promise<WireAnswer>;

/** Nova's message for a server in another state than an action needs. @see nova/compute/api.py, check_instance_state */
function needState(
  { id, vmState, taskState }: Server,
  action: string,
  states: readonly VmState[],
  tasks: readonly (string | null)[] | 'any' = [null],
): void {
  if (!states.includes(vmState))
    throw novaRefusal(409, `Cannot '${action}' instance ${id} while it is in vm_state ${vmState}`);
  if (tasks !== 'any' && !tasks.includes(taskState))
    throw novaRefusal(409, `Cannot '${action}' instance ${id} while it is in task_state ${taskState}`);
}

/**
 * Between the check of a server's state and the write another request may have had the same idea: Nova then fails over
 * its own check.
 */
async function takeServer(call: NovaCall, server: Server, taskState: string): Promise<void> {
  await checkToWrite(call);
  if (server.taskState !== null || server.isDeleted) throw novaBroken('nova.exception.UnexpectedTaskStateError');
  changeServer(call.cloud, server, { taskState });
}

const liveMigrate = async (call: NovaCall, server: Server, { host }: { host: string | null }): Promise<WireAnswer> => {
  needAdmin(call, 'os_compute_api:os-migrate-server:migrate_live');
  if (isBoundByTpm(server.flavor)) {
    throw novaRefusal(400, `Operation 'live-migration' not supported for vTPM-enabled instance (${server.id}).`);
  }
  needState(server, 'os-migrateLive', ['active', 'paused']);
  if (host !== null && !call.cloud.model.hypervisors.has(host))
    throw novaRefusal(400, `Compute host ${host} could not be found.`);
  await takeServer(call, server, 'migrating');
  conductLiveMigration(
    call.cloud,
    server,
    host,
    startAction(call.cloud, server, 'live-migration', call.request.requestId),
  );
  return accepted;
};

const coldMigrate = async (call: NovaCall, server: Server, body: { host?: string } | null): Promise<WireAnswer> => {
  needAdmin(call, 'os_compute_api:os-migrate-server:migrate');
  const host = body?.host ?? null;
  needState(server, 'migrate', ['active', 'stopped']);
  if (server.host === null) throw novaRefusal(409, `Instance ${server.id} is not ready`);
  if (!isHostUp(call.cloud, server.host)) throw novaRefusal(409, 'Service is unavailable at this time.');
  if (host !== null && !call.cloud.model.hypervisors.has(host))
    throw novaRefusal(400, `Compute host ${host} could not be found.`);
  if (host !== null && host === server.host)
    throw novaRefusal(400, 'Cannot migrate to the host where the server exists.');
  await takeServer(call, server, 'resize_prep');
  conductColdMigration(call.cloud, server, host, startAction(call.cloud, server, 'migrate', call.request.requestId));
  return accepted;
};

const evacuate = async (
  call: NovaCall,
  server: Server,
  { host = null }: { host?: string | null },
): Promise<WireAnswer> => {
  needAdmin(call, 'os_compute_api:os-evacuate');
  if (host !== null && !call.cloud.model.hypervisors.has(host))
    throw novaRefusal(404, `Compute host ${host} not found.`);
  if (host !== null && server.host === host) throw novaRefusal(400, "The target host can't be the same one.");
  needState(server, 'evacuate', ['active', 'stopped', 'error'], 'any');
  if (isHostUp(call.cloud, server.host ?? ''))
    throw novaRefusal(400, `Compute service of ${server.host} is still in use.`);
  // Nova does not check again before it writes: of two at the same moment, both go on.
  await checkToWrite(call);
  startEvacuation(
    call.cloud,
    server,
    host,
    call.request.minor >= 95,
    startAction(call.cloud, server, 'evacuate', call.request.requestId),
  );
  return { status: 200 };
};

const finished = (call: NovaCall, server: Server, action: string) => {
  needState(server, action, ['resized']);
  const migration = call.cloud.model.migrations.findLast(
    ({ instanceId, status }) => instanceId === server.id && status === 'finished',
  );
  if (migration === undefined) throw novaRefusal(400, 'Instance has not been resized.');
  return migration;
};

const confirmResize = (call: NovaCall, server: Server): WireAnswer => {
  const migration = finished(call, server, 'confirmResize');
  setStatus(call.cloud, migration, 'confirming');
  conductConfirmation(
    call.cloud,
    server,
    migration,
    startAction(call.cloud, server, 'confirmResize', call.request.requestId),
  );
  return { status: 204 };
};

const revertResize = (call: NovaCall, server: Server): WireAnswer => {
  const migration = finished(call, server, 'revertResize');
  changeServer(call.cloud, server, { taskState: 'resize_reverting' });
  setStatus(call.cloud, migration, 'reverting');
  conductReversion(
    call.cloud,
    server,
    migration,
    startAction(call.cloud, server, 'revertResize', call.request.requestId),
  );
  return accepted;
};

/** An action of power: task at once, state a moment later by the server's host. */
const powerAction =
  (name: string, from: readonly VmState[], taskState: string, end: Pick<Server, 'vmState' | 'powerState'>): Action =>
  (call, server) => {
    needState(server, name, from);
    if (server.host === null) throw novaRefusal(409, `Instance ${server.id} is not ready`);
    changeServer(call.cloud, server, { taskState });
    startAction(call.cloud, server, name.replace(/^os-/u, ''), call.request.requestId);
    call.cloud.cast(hostNamed(call.cloud, server.host), () => {
      if (!server.isDeleted && server.taskState === taskState)
        changeServer(call.cloud, server, { ...end, taskState: null });
    });
    return accepted;
  };

const running = { vmState: 'active', powerState: power.running } as const;

/** Its host reads it; Nova's answer waits for that. */
const consoleOutput = async (call: NovaCall, server: Server, { length }: { length?: number }): Promise<WireAnswer> => {
  if (server.host === null) throw novaRefusal(409, `Instance ${server.id} is not ready`);
  const lines = `Booting...\n${hostnameOf(server.name)} login: `.split('\n');
  if (!(await askCompute(call, hostNamed(call.cloud, server.host), 'short', (answer) => answer())))
    throw novaBroken('oslo_messaging.exceptions.MessagingTimeout');
  return ok({ output: lines.slice(length === undefined || length < 0 ? 0 : -length).join('\n') });
};

const actions: Readonly<Record<string, Action>> = {
  'os-migrateLive': liveMigrate,
  migrate: coldMigrate,
  evacuate,
  confirmResize,
  revertResize,
  'os-getConsoleOutput': consoleOutput,
  'os-stop': powerAction('os-stop', ['active', 'error'], 'powering-off', {
    vmState: 'stopped',
    powerState: power.shutdown,
  }),
  'os-start': powerAction('os-start', ['stopped'], 'powering-on', running),
  pause: powerAction('pause', ['active'], 'pausing', { vmState: 'paused', powerState: power.paused }),
  unpause: powerAction('unpause', ['paused'], 'unpausing', running),
  suspend: powerAction('suspend', ['active'], 'suspending', { vmState: 'suspended', powerState: power.shutdown }),
  resume: powerAction('resume', ['suspended'], 'resuming', running),
  rescue: powerAction('rescue', ['active', 'stopped', 'error'], 'rescuing', {
    vmState: 'rescued',
    powerState: power.running,
  }),
  unrescue: powerAction('unrescue', ['rescued'], 'unrescuing', running),
  'os-resetState': (call, server, { state }: { state: 'error' | 'active' }) => {
    changeServer(call.cloud, server, { vmState: state, taskState: null });
    return accepted;
  },
  lock: (call, server) => {
    changeServer(call.cloud, server, { isLocked: true });
    return accepted;
  },
  unlock: (call, server) => {
    changeServer(call.cloud, server, { isLocked: false });
    return accepted;
  },
};

/** Nova keeps a server's own people from a locked one; an administrator may do everything with it. */
function needUnlocked({ request }: NovaCall, { isLocked, id }: Server): void {
  if (isLocked && !request.user.roles.includes('admin')) throw novaRefusal(409, `Instance ${id} is locked`);
}

export const serverActionRoutes: Routes<NovaCall> = {
  'POST /servers/{}/action': (call, id) => {
    const [[name, parameters] = ['', null]] = Object.entries(call.request.body as Record<string, unknown>);
    const action = actions[name];
    if (action === undefined) throw new Error(`the simulated Nova does not know the action ${name}`);
    const server = findServer(call, id ?? '');
    if (!['lock', 'unlock', 'os-getConsoleOutput'].includes(name)) needUnlocked(call, server);
    return action(call, server, parameters as never);
  },
};
