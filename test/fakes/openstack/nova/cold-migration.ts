import type { Cloud } from '../cloud.ts';
import type { ComputeHost, InstanceAction, Migration, Server, TransferEnd } from '../model.ts';
import { addAllocation, dropConsumer, moveAllocations } from '../placement/state.ts';
import {
  addEvent,
  changeServer,
  createMigration,
  finishEvent,
  hostNamed,
  power,
  recordFault,
  resourcesOf,
  setStatus,
  startEvent,
} from './records.ts';
import { selectHost } from './scheduler.ts';
import { startTransfer } from './transfer.ts';

/**
 * What happens after Nova has answered 202 to `migrate`.
 * @see nova/conductor/tasks/migrate.py, nova/compute/manager.py, resize_instance
 */
export function conductColdMigration(
  cloud: Cloud,
  server: Server,
  target: string | null,
  action: InstanceAction,
): void {
  cloud.soon(() => cloud.soon(() => begin(cloud, server, target, action)));
}

function begin(cloud: Cloud, server: Server, target: string | null, action: InstanceAction): void {
  if (server.isDeleted) return;
  const source = hostNamed(cloud, server.host ?? '');
  const migration = createMigration(cloud, server, 'migration', 'pre-migrating', null);
  const conductor = startEvent(cloud, action, 'cold_migrate', 'controller');
  moveAllocations(cloud.model.placement, server.id, migration.uuid, 'MIGRATION');
  cloud.soon(() => {
    const choice = selectHost(cloud, server, { ignored: [source.name], only: target });
    if ('reason' in choice) {
      finishEvent(cloud, action, conductor, choice.reason);
      recordFault(cloud, server, choice.reason);
      return giveBack(cloud, server, migration);
    }
    const { host } = choice;
    addAllocation(
      cloud.model.placement,
      server.id,
      cloud.model.hypervisors.get(host.name)?.id ?? '',
      resourcesOf(server),
      server,
    );
    finishEvent(cloud, action, conductor, null);
    cloud.cast(host, () => {
      if (server.isDeleted) return;
      migration.dest = host.name;
      setStatus(cloud, migration, 'pre-migrating');
      addEvent(cloud, action, 'compute_prep_resize', host.name);
      cloud.cast(source, () => copy(cloud, { server, migration, action, source, target: host }));
    });
  });
}

/** The migration is in error, the server as it was, with what it had in Placement. */
function giveBack(cloud: Cloud, server: Server, migration: Migration): void {
  dropConsumer(cloud.model.placement, server.id);
  if (!server.isDeleted) {
    moveAllocations(cloud.model.placement, migration.uuid, server.id, 'INSTANCE');
    changeServer(cloud, server, { taskState: null });
  }
  setStatus(cloud, migration, 'error');
}

interface Move {
  readonly server: Server;
  readonly migration: Migration;
  readonly action: InstanceAction;
  readonly source: ComputeHost;
  readonly target: ComputeHost;
}

function copy(cloud: Cloud, move: Move): void {
  const { server, migration, action, source } = move;
  if (server.isDeleted) return;
  setStatus(cloud, migration, 'migrating');
  changeServer(cloud, server, { taskState: 'resize_migrating', oldVmState: server.vmState });
  const event = startEvent(cloud, action, 'compute_resize_instance', source.name);
  const end = (how: TransferEnd): void => {
    source.copying.delete(transfer);
    if (how === 'crashed') return;
    cloud.soonOn(source, () => {
      if (server.isDeleted) return setStatus(cloud, migration, 'error');
      if (how === 'fail') {
        const reason = 'Resize error: the disk could not be copied';
        finishEvent(cloud, action, event, reason);
        recordFault(cloud, server, reason);
        return giveBack(cloud, server, migration);
      }
      if (how === 'error') {
        const reason = `Migration error: the disk of ${server.id} was lost on the way`;
        finishEvent(cloud, action, event, reason);
        recordFault(cloud, server, reason);
        giveBack(cloud, server, migration);
        return changeServer(cloud, server, { vmState: 'error', taskState: null });
      }
      finishEvent(cloud, action, event, null);
      hasCopied(cloud, move);
    });
  };
  const transfer = startTransfer(cloud, server, end);
  source.copying.add(transfer);
}

function hasCopied(cloud: Cloud, { server, migration, action, source, target }: Move): void {
  setStatus(cloud, migration, 'post-migrating');
  changeServer(cloud, server, { taskState: 'resize_migrated', host: target.name, powerState: power.shutdown });
  cloud.cast(target, () => {
    if (server.isDeleted) return;
    changeServer(cloud, server, { taskState: 'resize_finish' });
    target.guests.add(server.id);
    cloud.soonOn(target, () => {
      if (server.isDeleted) return;
      addEvent(cloud, action, 'compute_finish_resize', target.name);
      const wasRunning = server.oldVmState === 'active';
      changeServer(cloud, server, {
        vmState: 'resized',
        taskState: null,
        powerState: wasRunning ? power.running : power.shutdown,
      });
      source.guests.delete(server.id);
      setStatus(cloud, migration, 'finished');
    });
  });
}

/** At the source, after Nova has answered 204 and the record is `confirming`. */
export function conductConfirmation(cloud: Cloud, server: Server, migration: Migration, action: InstanceAction): void {
  cloud.cast(hostNamed(cloud, migration.source), () => confirm(cloud, server, migration, action));
}

export function confirm(cloud: Cloud, server: Server, migration: Migration, action: InstanceAction | null): void {
  dropConsumer(cloud.model.placement, migration.uuid);
  setStatus(cloud, migration, 'confirmed');
  if (action !== null) addEvent(cloud, action, 'compute_confirm_resize', migration.source);
  if (server.isDeleted) return;
  changeServer(cloud, server, {
    vmState: server.powerState === power.shutdown ? 'stopped' : 'active',
    taskState: null,
  });
}

/** After Nova has answered 202 and the record is `reverting`. */
export function conductReversion(cloud: Cloud, server: Server, migration: Migration, action: InstanceAction): void {
  const [source, target] = [hostNamed(cloud, migration.source), hostNamed(cloud, server.host ?? '')];
  cloud.cast(target, () => {
    if (server.isDeleted) return;
    target.guests.delete(server.id);
    dropConsumer(cloud.model.placement, server.id);
    moveAllocations(cloud.model.placement, migration.uuid, server.id, 'INSTANCE');
    changeServer(cloud, server, { host: source.name });
    cloud.cast(source, () => {
      source.guests.add(server.id);
      addEvent(cloud, action, 'compute_revert_resize', source.name);
      changeServer(cloud, server, {
        vmState: server.oldVmState,
        taskState: null,
        powerState: server.oldVmState === 'active' ? power.running : power.shutdown,
      });
      setStatus(cloud, migration, 'reverted');
    });
  });
}
