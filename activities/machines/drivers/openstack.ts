import type { DeleteMachineRequest, MachineDriver } from '../../../contracts/machine-safety/driver.ts';
import { readProviderId, writeProviderId } from '../../../contracts/machine-safety/provider-id.ts';
import type { Clock } from '../../../runtime/clock.ts';
import { droverFailure, failureCode } from '../../../runtime/failure.ts';
import type { KeystoneSession } from '../../keystone/types.ts';
import { growingDelayMs } from '../../lib/wait.ts';
import { createMachineCalls, type MachineCalls, type MachineServer } from '../../nova/machine-calls.ts';
import { hasMarks, marksIn, openstackNotation } from './marks.ts';
import type { OpenStackClass } from './openstack-class.ts';
import { deleteOpenStackLeftover, listOpenStackLeftovers } from './openstack-leftovers.ts';

/** Gives the work a session that stays open for it. */
export type UseCloud = <Result>(work: (session: KeystoneSession) => Promise<Result>) => Promise<Result>;

/**
 * Servers of the credential’s project, with the marks of one class in their metadata (docs/machine-safety.md#drivers).
 */
export const openOpenStackDriver = (of: OpenStackClass, use: UseCloud, clock: Clock): MachineDriver => ({
  provider: 'openstack',
  listMachines: (signal) =>
    use(async (session) => {
      const servers = await createMachineCalls(session).servers(signal);
      const projectId = await projectOf(session, signal);
      return servers
        .filter((server) => isOfClass(of, projectId, server))
        .map(({ id, name, createdAt }) => ({
          providerId: writeProviderId({ provider: 'openstack', region: of.region, id }),
          machineName: name,
          createdMs: timeOrNull(createdAt),
        }));
    }),
  deleteMachine: (request, signal) =>
    use(async (session) =>
      deleteMachine(
        { of, nova: createMachineCalls(session), projectId: await projectOf(session, signal), clock, signal },
        request,
      ),
    ),
  listLeftovers: (signal) =>
    use(async (session) =>
      listOpenStackLeftovers({ session, projectId: await projectOf(session, signal), marks: of.marks }, signal),
    ),
  deleteLeftover: (leftover, signal) =>
    use(async (session) =>
      deleteOpenStackLeftover(
        { session, projectId: await projectOf(session, signal), marks: of.marks },
        leftover,
        signal,
      ),
    ),
});

/** @throws AnswerMalformed a token of no project lists no servers */
async function projectOf(session: KeystoneSession, signal: AbortSignal): Promise<string> {
  const { projectId } = await session.identity(signal);
  if (projectId === null)
    throw droverFailure('AnswerMalformed', 'Keystone does not say of which project the credential is');
  return projectId;
}

const isOfClass = ({ marks }: OpenStackClass, ofProject: string, { projectId, metadata }: MachineServer): boolean =>
  projectId === ofProject && hasMarks(marksIn(openstackNotation, metadata), marks);

function timeOrNull(text: string): number | null {
  const time = Date.parse(text);
  return Number.isNaN(time) ? null : time;
}

interface Deletion {
  of: OpenStackClass;
  nova: MachineCalls;
  projectId: string;
  clock: Clock;
  signal: AbortSignal;
}

/** A deletion without effect is asked for again. */
const askAgainMs = 10_000;

/** Longer than Nova needs to remove a server whose host is up. */
const goneWithinMs = 300_000;

/**
 * Nova destroys the volumes that were made to go with the server, and detaches the others by itself: no disk has to be
 * detached first.
 *
 * @throws InvalidObject, VirtualMachineNotOwned
 * @throws InstanceBusy it is still there
 */
async function deleteMachine(
  deletion: Deletion,
  request: DeleteMachineRequest,
): ReturnType<MachineDriver['deleteMachine']> {
  const { nova, clock, signal } = deletion;
  const startMs = clock.monotonicMs();
  let askedMs = -Infinity;
  for (;;) {
    const server = await findMachine(deletion, request);
    if (server === null) return { outcome: askedMs === -Infinity ? 'gone' : 'deleted', detachedDisks: [] };
    const nowMs = clock.monotonicMs();
    if (nowMs - startMs >= goneWithinMs)
      throw droverFailure(
        'InstanceBusy',
        `Server ${server.name} (${server.id}) is ${server.status} ${goneWithinMs / 1_000} s after its deletion was asked for`,
      );
    if (nowMs - askedMs >= askAgainMs) {
      askedMs = nowMs;
      try {
        await nova.deleteServer(server.id, signal);
      } catch (error) {
        if (!['InstanceNotFound', 'InstanceBusy'].includes(failureCode(error) ?? '')) throw error;
      }
    }
    await clock.sleep(growingDelayMs(nowMs - startMs), signal);
  }
}

/**
 * The server, if it is still what is to be deleted; null where it is gone.
 * @throws InvalidObject, VirtualMachineNotOwned
 */
async function findMachine(
  { of, nova, projectId, signal }: Deletion,
  { providerId, machineName }: Pick<DeleteMachineRequest, 'providerId' | 'machineName'>,
): Promise<MachineServer | null> {
  const read = readProviderId(providerId);
  if (read?.provider !== 'openstack')
    throw droverFailure(
      'InvalidObject',
      `${providerId.slice(0, 300)} is no provider id of OpenStack, where ${of.what} has its servers`,
    );
  const server = await nova.server(read.id, signal);
  if (server === null || (server.name === machineName && isOfClass(of, projectId, server))) return server;
  throw droverFailure(
    'VirtualMachineNotOwned',
    `Server ${server.name} (${server.id}) has not the name, the metadata or the project of ${machineName} of ${of.what}`,
  );
}
