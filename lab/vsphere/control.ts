import { readFileSync } from 'node:fs';
import type { VsphereHandle } from './handle.ts';

const REQUEST_TIMEOUT_MS = 10_000;

/** A request as it arrived, in front of the simulator. */
export interface RecordedRequest {
  /** As in SOAP; one of REST without its ids: `POST /com/vmware/vcenter/ovf/library-item deploy`. */
  readonly method: string;
  /** Empty for REST. */
  readonly soapAction: string;
  /** Whether a session came along, good or not. */
  readonly hasSession: boolean;
  /** Empty for a login. */
  readonly body: string;
  /** HTTP; 0 where there is no answer, or none yet. */
  readonly status: number;
}

/** A fault of vSphere for the next calls of a method. */
export interface FaultRule {
  /** As in SOAP: `CloneVM_Task`. */
  readonly method: string;
  /** A type of vim25: `NoPermission`. */
  readonly fault: string;
  /** Its own fields, as govmomi writes them in JSON. */
  readonly fields?: Readonly<Record<string, unknown>>;
  /** The call is taken, and its task fails. */
  readonly inTask?: boolean;
  readonly skip?: number;
  /** Default 1. */
  readonly count?: number;
}

/** What becomes of the answers to the next calls of a method. */
export interface WireFault {
  /** As it is recorded; default: any of SOAP. */
  readonly method?: string;
  /** The simulator does what was asked first: the answer is lost. */
  readonly after?: boolean;
  /** `cut`: the connection ends; `hang`: nothing comes; `status`: an empty answer; `delay`: it comes late. */
  readonly does: 'cut' | 'hang' | 'status' | 'delay';
  readonly status?: number;
  readonly delayMs?: number;
  readonly skip?: number;
  /** Default 1. */
  readonly count?: number;
}

/** Of tasks that can be slowed down, by the names that vcsim gives them. */
export type TaskName =
  | 'CreateVm'
  | 'CloneVm'
  | 'ReconfigVm'
  | 'PowerOn'
  | 'PowerOff'
  | 'Suspend'
  | 'Reset'
  | 'Destroy'
  | 'ShutdownGuest'
  | 'LibraryDeploy'
  | 'PromoteDisks'
  | 'CopyVirtualDisk';

/** The control port of the lab's vCenter. All changes are in effect when the promise resolves. */
export interface VcenterControl {
  fail(rule: FaultRule): Promise<void>;
  inject(fault: WireFault): Promise<void>;
  /** Replaces all delays. */
  delayTasks(delaysMs: Partial<Record<TaskName, number>>): Promise<void>;
  /** Guests take requests to shut down and do nothing. */
  deafenGuests(deaf: boolean): Promise<void>;
  /** Of drover's user from now on; sessions stay. */
  changePassword(password: string): Promise<void>;
  endSessions(): Promise<{ ended: number }>;
  /** Another vCenter behind the same address, with the same ids: only the simulator's model can be one. */
  becomeAnother?(instanceUuid: string): Promise<void>;
  /**
   * Another user begins to migrate a VM, which fails after that time; cancelled like any task. Only the simulator's
   * model knows it.
   */
  failMigration?(path: string, afterMs: number): Promise<void>;
  /**
   * The disks of a VM's own folder go to that datastore, as storage vMotion moves them. Only the simulator's model
   * knows it.
   */
  moveDisks?(path: string, datastore: string): Promise<void>;
  /**
   * Whether vCenter takes changes of a VM's configuration and changes nothing: their tasks end well. Only the
   * simulator's model does.
   */
  ignoreChanges?(path: string, ignored: boolean): Promise<void>;
  requests(): Promise<RecordedRequest[]>;
  clearRequests(): Promise<void>;
  /** Faults, delays, guests and the password as in a new lab, and no requests. The inventory stays. */
  reset(): Promise<void>;
}

export function connectVcenterControl(handle: Pick<VsphereHandle, 'controlUrl' | 'controlTokenFile'>): VcenterControl {
  const token = readFileSync(handle.controlTokenFile, 'utf8');
  const call = async (method: string, path: string, body?: object): Promise<unknown> => {
    const response = await fetch(`${handle.controlUrl}/${path}`, {
      method,
      headers: { 'X-Lab-Token': token },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(REQUEST_TIMEOUT_MS),
    });
    if (!response.ok) throw new Error(`control port: ${method} /${path}: ${(await response.text()).trim()}`);
    return response.json();
  };
  const change = async (method: string, path: string, body?: object): Promise<void> =>
    void (await call(method, path, body));
  return {
    fail: (rule) => change('POST', 'faults', rule),
    inject: (fault) => change('POST', 'wire-faults', fault),
    delayTasks: (delaysMs) => change('PUT', 'task-delays', delaysMs),
    deafenGuests: (deaf) => change('PUT', 'guests', { deaf }),
    changePassword: (password) => change('PUT', 'password', { password }),
    endSessions: async () => (await call('DELETE', 'sessions')) as { ended: number },
    requests: async () => (await call('GET', 'requests')) as RecordedRequest[],
    clearRequests: () => change('DELETE', 'requests'),
    reset: () => change('POST', 'reset'),
  };
}
