import type { Leftover, MachineDriver } from '../../../contracts/machine-safety/driver.ts';
import { droverFailure, failureCode } from '../../../runtime/failure.ts';
import { createVolumeCalls, type Volume } from '../../cinder/volumes.ts';
import type { KeystoneSession } from '../../keystone/types.ts';
import { createPortCalls, type Port } from '../../neutron/ports.ts';
import { hasMarks, type Marks, marksIn, openstackNotation } from './marks.ts';

/**
 * Ports and volumes that were made for a server of a class and belong to none: the marks stand in tags and in metadata.
 */

interface Of {
  session: KeystoneSession;
  projectId: string;
  marks: Marks;
}

/** A cloud without Neutron, or without Cinder, has none of theirs. @throws what the calls throw */
export async function listOpenStackLeftovers(
  { session, projectId, marks }: Of,
  signal: AbortSignal,
): Promise<Leftover[]> {
  const ports = await unlessMissing(createPortCalls(session).ports(tagsOf(marks), signal));
  const volumes = await unlessMissing(createVolumeCalls(session).volumes(signal));
  return [
    ...ports
      .filter((port) => isLeftPort(port, projectId, marks))
      .map(({ id, name, createdAt }) => ({ kind: 'port' as const, id, name, createdMs: timeOrNull(createdAt) })),
    ...volumes
      .filter((volume) => isLeftVolume(volume, marks))
      .map(({ id, name, createdAt }) => ({ kind: 'volume' as const, id, name, createdMs: timeOrNull(createdAt) })),
  ];
}

/** Reads it again first. @throws VirtualMachineNotOwned it is in use, or has lost a mark */
export async function deleteOpenStackLeftover(
  { session, projectId, marks }: Of,
  { kind, id }: Parameters<MachineDriver['deleteLeftover']>[0],
  signal: AbortSignal,
): Promise<boolean> {
  const refuse = (name: string) =>
    droverFailure('VirtualMachineNotOwned', `${kind} ${name} (${id}) is in use, or has not the marks of the class`);
  if (kind === 'port') {
    const calls = createPortCalls(session);
    const port = await calls.port(id, signal);
    if (port === null) return false;
    if (!isLeftPort(port, projectId, marks)) throw refuse(port.name);
    return await calls.deletePort(port, signal);
  }
  if (kind === 'volume') {
    const calls = createVolumeCalls(session);
    const volume = await calls.volume(id, signal);
    if (volume === null) return false;
    if (!isLeftVolume(volume, marks)) throw refuse(volume.name);
    return await calls.deleteVolume(id, signal);
  }
  throw droverFailure('InvalidInput', `${String(kind)} ${id} is nothing that drover lists as left over at OpenStack`);
}

/** As the class has them: with both, Neutron gives no port of another class. */
const tagsOf = ({ clusters, roles }: Marks): string[] => [
  ...clusters.map((name) => `${openstackNotation.cluster.prefix}${name}`),
  ...roles.map((name) => `${openstackNotation.role.prefix}${name}`),
];

const isLeftPort = ({ isUsed, projectId, tags }: Port, ofProject: string, marks: Marks): boolean =>
  !isUsed &&
  projectId === ofProject &&
  hasMarks(marksIn(openstackNotation, Object.fromEntries(tags.map((tag) => [tag, '']))), marks);

const isLeftVolume = ({ isUsed, metadata }: Volume, marks: Marks): boolean =>
  !isUsed && hasMarks(marksIn(openstackNotation, metadata), marks);

async function unlessMissing<Item>(reading: Promise<Item[]>): Promise<Item[]> {
  try {
    return await reading;
  } catch (error) {
    if (failureCode(error) === 'EndpointNotFound') return [];
    throw error;
  }
}

function timeOrNull(text: string | null): number | null {
  const time = Date.parse(text ?? '');
  return Number.isNaN(time) ? null : time;
}
