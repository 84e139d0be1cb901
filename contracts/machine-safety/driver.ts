import type { ProviderName } from './provider-id.ts';

/**
 * What a provider does for the sweep of orphan VMs: the part of the replaced manager's driver contract that needs no
 * create (docs/machine-safety.md#drivers).
 */

/** A VM that might have been made from a class. */
export interface ListedVm {
  /** As `Machine.spec.providerID` has it. */
  readonly providerId: string;
  /** As the provider knows it: the VM's name. */
  readonly machineName: string;
  /** When it was made, by the provider's clock; null where it does not say. */
  readonly createdMs: number | null;
}

/** What a create leaves when its VM is gone: listed, and deleted only when a user asks. */
export interface Leftover {
  readonly kind: 'port' | 'volume';
  readonly id: string;
  /** For people. */
  readonly name: string;
  readonly createdMs: number | null;
}

export interface DeleteMachineRequest extends Pick<ListedVm, 'providerId' | 'machineName'> {
  /** Detach disks first that were not made with the VM: they would be destroyed with it. */
  readonly detachForeignDisks: boolean;
}

/**
 * Submits the detach of disks, and writes down which ones they are: what fails afterwards finds no trace of them.
 *
 * @param submit answers the id of its task
 */
export type SubmitDetach = (disks: readonly string[], submit: () => Promise<string>) => Promise<string>;

/**
 * `gone`: there was no such VM any more, which is well. `detachedDisks`: by this call; another may have detached some before.
 */
export type DeleteMachineAnswer = { readonly outcome: 'deleted' | 'gone'; readonly detachedDisks: readonly string[] };

/**
 * One class with its credential. Failures are rows of contracts/errors.ts; a list that is not whole is a failure and
 * never a shorter list.
 */
export interface MachineDriver {
  readonly provider: ProviderName;
  /**
   * Every VM that carries both marks of the class (cluster and role), whatever Machines there are.
   *
   * @throws InvalidObject the class lacks a mark, so that nothing says which VMs are its own
   */
  listMachines(signal: AbortSignal): Promise<ListedVm[]>;
  /**
   * Deletes the VM with this id if it still has this name and both marks of the class; safe to repeat.
   *
   * @param submitDetach default: it is submitted, and nothing is written down
   * @throws VirtualMachineNotOwned it has lost a mark, or its name
   */
  deleteMachine(
    request: DeleteMachineRequest,
    signal: AbortSignal,
    submitDetach?: SubmitDetach,
  ): Promise<DeleteMachineAnswer>;
  /**
   * Ports and volumes with the marks of the class that belong to no VM. vSphere has nothing of
   * the kind (docs/machine-safety.md#drivers).
   */
  listLeftovers(signal: AbortSignal): Promise<Leftover[]>;
  /** Deletes one, if it still belongs to no VM and has the marks. False: it was gone. */
  deleteLeftover(leftover: Pick<Leftover, 'kind' | 'id'>, signal: AbortSignal): Promise<boolean>;
}

/** A MachineClass, as far as a driver needs it; read fresh. */
export interface DrivenClass {
  readonly namespace: string;
  readonly name: string;
  /** As it is written: `vSphere`, `OpenStack`. */
  readonly provider: string;
  /** Of the provider: anything. */
  readonly providerSpec: unknown;
  /** Of `nodeTemplate`; null where it has none. */
  readonly region: string | null;
}

/** Decoded values of the class's Secret. Never logged, never in a message. */
export type DriverSecret = Readonly<Record<string, string>>;

/**
 * Checks class and Secret and returns the driver. Sends nothing. Drivers of one credential share a session.
 *
 * @throws InvalidObject naming the field or the key of the Secret: a provider that drover has no driver for, no region,
 * no folder, no marks
 */
export type OpenDriver = (machineClass: DrivenClass, secret: DriverSecret) => MachineDriver;

/** Of what drivers keep open: sessions, by credential. */
export interface MachineDrivers {
  open: OpenDriver;
  close(): Promise<void>;
}
