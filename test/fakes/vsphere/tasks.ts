import type { TaskName } from '../../../lab/vsphere/control.ts';
import type { WitnessedTask } from '../../../lab/vsphere/read-tasks.ts';
import { VsphereFault } from './fault.ts';
import type { Managed, Model, Ref } from './model.ts';

export interface TaskInfoState {
  $type: 'TaskInfo';
  key: string;
  name: string;
  descriptionId: string;
  entity: Ref | undefined;
  state: 'queued' | 'running' | 'success' | 'error';
  cancelable: boolean;
  readonly progress: number | undefined;
  error:
    | { $type: 'LocalizedMethodFault'; fault: { $type: string; reason?: string }; localizedMessage: string }
    | undefined;
  result: object | undefined;
  activationId: string | undefined;
}

export interface TaskState {
  info: TaskInfoState;
  startMs: number | null;
  durationMs: number;
  endMs: number | null;
}

export interface TaskRequest {
  /** `PowerOnVM_Task`. */
  method: string;
  /** `PowerOn`: what delays go by. */
  name:
    | TaskName
    | 'MigrateVm'
    | 'UpgradeVm'
    | 'CustomizeVm'
    | 'CopyDatastoreFile'
    | 'MoveDatastoreFile'
    | 'MoveVirtualDisk'
    | 'DeleteDatastoreFile'
    | 'SearchDatastore';
  /** `VirtualMachine.powerOn`. */
  descriptionId: string;
  entity: Ref;
  /** vCenter works at one of them at a time for each entity; the others are queued. */
  isExclusive?: boolean;
  isCancelable?: boolean;
  activationId?: string;
  /** Default: what is delayed by its name. */
  takesMs?: number;
  /**
   * What it does when vCenter begins with it. Returns what undoes that, where the task fails or is cancelled.
   *
   * @throws VsphereFault, with which the task ends
   */
  begin?: () => () => void;
  /** The effect, when its time has passed. @throws VsphereFault, with which the task ends */
  work: () => object | undefined;
}

export interface Tasks {
  start(request: TaskRequest): Ref;
  /** A fault with which the next tasks of a method end. */
  failNext(method: string, fault: VsphereFault, count: number): void;
  clearFaults(): void;
  /** Replaces all. */
  setDelays(delaysMs: Partial<Record<string, number>>): void;
  /** @throws InvalidState where it has ended; NotSupported where it cannot be cancelled */
  cancel(ref: Ref): void;
  /** Those that have not ended, or a short time ago. */
  recent(entity?: Ref): Ref[];
  /** Resolves when it has ended. */
  untilEnded(ref: Ref): Promise<TaskInfoState>;
  witness(): WitnessedTask[];
}

/** The shortest and the longest that a task takes without a delay. */
const baseMs = [5, 80] as const;
/** How long vCenter knows of a task that has ended. */
const rememberedMs = 10 * 60_000;
const mostWitnessed = 200;

export function openTasks(model: Model): Tasks {
  const tasks = new Map<string, Managed<TaskState>>();
  const queues = new Map<string, (() => void)[]>();
  const faults: { method: string; fault: VsphereFault; count: number }[] = [];
  const undoing = new Map<string, () => void>();
  const waiting = new Map<string, ((info: TaskInfoState) => void)[]>();
  let delays: Partial<Record<string, number>> = {};

  const takeFault = (method: string): VsphereFault | null => {
    const rule = faults.find((one) => one.method === method && one.count > 0);
    if (rule === undefined) return null;
    rule.count -= 1;
    return rule.fault;
  };
  const end = ({ ref, state }: Managed<TaskState>, outcome: Partial<TaskInfoState>): void => {
    Object.assign(state.info, outcome);
    if (outcome.state === 'error') undoing.get(ref.value)?.();
    undoing.delete(ref.value);
    state.endMs = model.clock.now();
    model.clock.schedule(() => {
      tasks.delete(ref.value);
      model.remove(ref);
    }, rememberedMs);
    for (const resolve of waiting.get(ref.value) ?? []) resolve(state.info);
    waiting.delete(ref.value);
  };
  const failed = (fault: VsphereFault): Partial<TaskInfoState> => ({
    state: 'error',
    error: { $type: 'LocalizedMethodFault', fault: { $type: fault.type, ...fault.fields }, localizedMessage: '' },
  });
  const begin = (
    task: Managed<TaskState>,
    request: TaskRequest,
    fault: VsphereFault | null,
    done: () => void,
  ): void => {
    const { info } = task.state;
    if (info.state !== 'queued') return done();
    info.state = 'running';
    task.state.startMs = model.clock.now();
    const [least, most] = baseMs;
    const durationMs = least + model.random() * (most - least) + (request.takesMs ?? delays[request.name] ?? 0);
    task.state.durationMs = durationMs;
    try {
      const undo = request.begin?.();
      if (undo !== undefined) undoing.set(task.ref.value, undo);
    } catch (error) {
      if (!(error instanceof VsphereFault)) throw error;
      end(task, failed(error));
    }
    model.clock.schedule(() => {
      if (info.state === 'running') {
        try {
          if (fault !== null) throw fault;
          end(task, { result: request.work(), state: 'success' });
        } catch (error) {
          if (!(error instanceof VsphereFault)) throw error;
          end(task, failed(error));
        }
        model.changed();
      }
      done();
    }, durationMs);
  };
  return {
    start(request) {
      const fault = takeFault(request.method);
      const { name, descriptionId, entity, isExclusive = false, isCancelable = false, activationId } = request;
      const info: TaskInfoState = {
        $type: 'TaskInfo',
        key: '',
        name,
        descriptionId,
        entity,
        state: 'queued',
        cancelable: isCancelable,
        get progress() {
          const { startMs, durationMs } = task.state;
          return info.state === 'running'
            ? Math.min(99, Math.floor(((model.clock.now() - (startMs ?? 0)) / durationMs) * 100))
            : undefined;
        },
        error: undefined,
        result: undefined,
        activationId,
      };
      const task = model.add<TaskState>('Task', 'task-', { info, startMs: null, durationMs: 0, endMs: null });
      info.key = task.ref.value;
      tasks.set(task.ref.value, task);
      if (!isExclusive) {
        begin(task, request, fault, () => undefined);
        return task.ref;
      }
      const queue = queues.get(entity.value) ?? [];
      queues.set(entity.value, queue);
      const next = (): void => {
        queue.shift();
        if (queue.length === 0) queues.delete(entity.value);
        else queue[0]?.();
      };
      queue.push(() => begin(task, request, fault, next));
      if (queue.length === 1) queue[0]?.();
      return task.ref;
    },
    failNext: (method, fault, count) => void faults.push({ method, fault, count }),
    clearFaults: () => void faults.splice(0),
    setDelays: (delaysMs) => (delays = { ...delaysMs }),
    cancel(ref) {
      const task = model.get<TaskState>(ref);
      const { info } = task.state;
      if (info.state === 'success' || info.state === 'error') throw new VsphereFault('InvalidState');
      // Whether it comes in time is by chance: the task may end well all the same.
      if (info.cancelable && model.random() < 0.5) end(task, failed(new VsphereFault('RequestCanceled')));
    },
    recent: (entity) =>
      [...tasks.values()]
        .filter(({ state }) => entity === undefined || state.info.entity?.value === entity.value)
        .map(({ ref }) => ref),
    untilEnded(ref) {
      const task = model.get<TaskState>(ref);
      if (task.state.endMs !== null) return Promise.resolve(task.state.info);
      const { promise, resolve } = Promise.withResolvers<TaskInfoState>();
      waiting.set(ref.value, [...(waiting.get(ref.value) ?? []), resolve]);
      return promise;
    },
    witness: () =>
      [...tasks.values()]
        .slice(-mostWitnessed)
        .flatMap(({ state: { info, startMs, endMs } }) =>
          startMs === null ? [] : [{ descriptionId: info.descriptionId, startMs, endMs }],
        ),
  };
}
