import type { LibvirtAccess } from '../../../activities/libvirt/types.ts';
import type { ProcedureArgs, ProcedureName, ProcedureResult } from '../../../activities/libvirt/wire/procedures.ts';
import type { EventMessage } from './libvirt-events.ts';

/** Answers a call. @throws LibvirtRefused */
export type Handler<Name extends ProcedureName> = (
  args: ProcedureArgs<Name>,
  session: Session,
) => ProcedureResult<Name> | Promise<ProcedureResult<Name>>;
export type Handlers = { [Name in ProcedureName]: Handler<Name> };

/** A connection, as the daemon sees it. */
export interface Session {
  /** The client's process runs. */
  isAlive(): boolean;
  send(message: EventMessage): void;
  /** The daemon ends: the connection is closed after what was sent. */
  cut(): void;
  /** The credential that it was opened with; the daemon asks for it in its own way. */
  credential: LibvirtAccess['credential'];
  /** What is open: `qemu:///system`; null before. */
  uri: string | null;
  /** Kinds of events that were asked for. */
  kinds: Set<number>;
}
