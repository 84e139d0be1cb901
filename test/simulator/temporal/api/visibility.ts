import { grpcError, grpcStatus } from './grpc.ts';
import type { Run, RunStatus } from '../run.ts';
import { fromPayload } from '../sdk.ts';

/**
 * The part of Temporal's list filters that drover and its tests use: comparisons, IN, BETWEEN, IS NULL, STARTS_WITH,
 * AND, OR and parentheses over the fields of runs and their search attributes.
 */

export type RunFilter = (run: Run) => boolean;
type Value = string | number | null;

const statusNames: Readonly<Record<RunStatus, string>> = {
  RUNNING: 'Running',
  COMPLETED: 'Completed',
  FAILED: 'Failed',
  CANCELED: 'Canceled',
  TERMINATED: 'Terminated',
  CONTINUED_AS_NEW: 'ContinuedAsNew',
  TIMED_OUT: 'TimedOut',
};

const fields: Readonly<Record<string, (run: Run) => Value>> = {
  WorkflowId: ({ workflowId }) => workflowId,
  RunId: ({ runId }) => runId,
  WorkflowType: ({ type }) => type,
  TaskQueue: ({ taskQueue }) => taskQueue,
  ExecutionStatus: ({ status }) => statusNames[status],
  StartTime: ({ startMs }) => startMs,
  ExecutionTime: ({ startMs }) => startMs,
  CloseTime: ({ closeMs }) => closeMs,
  HistoryLength: ({ events }) => events.length,
};
const times = new Set(['StartTime', 'ExecutionTime', 'CloseTime']);

/** @throws an error of gRPC, INVALID_ARGUMENT: it is wrong, or says what the simulator does not support */
export function parseQuery(query: string): RunFilter {
  if (query.trim() === '') return () => true;
  const tokens = [
    ...query.matchAll(/\s*(?:("(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')|(<=|>=|!=|=|<|>|\(|\)|,)|([\w.`-]+)|(\S))/gu),
  ].map(([token]) => token.trim());
  let at = 0;

  const refuse = (): never => {
    throw grpcError(
      grpcStatus.invalidArgument,
      `invalid query: the simulator does not understand ${JSON.stringify(query)} at ${JSON.stringify(tokens.slice(at, at + 3).join(' '))}`,
    );
  };
  const isNext = (word: string): boolean => tokens[at]?.toUpperCase() === word;
  const take = (word: string): boolean => {
    if (!isNext(word)) return false;
    at += 1;
    return true;
  };
  const demand = (word: string): void => void (take(word) || refuse());

  function either(): RunFilter {
    let filter = both();
    while (take('OR')) {
      const [left, right] = [filter, both()];
      filter = (run) => left(run) || right(run);
    }
    return filter;
  }

  function both(): RunFilter {
    let filter = one();
    while (take('AND')) {
      const [left, right] = [filter, one()];
      filter = (run) => left(run) && right(run);
    }
    return filter;
  }

  function one(): RunFilter {
    if (take('(')) {
      const filter = either();
      demand(')');
      return filter;
    }
    return comparison();
  }

  function comparison(): RunFilter {
    const name = (tokens[at] ?? refuse()).replaceAll('`', '');
    at += 1;
    const read = fields[name] ?? ((run: Run) => attributeOf(run, name));
    const value = (): Value => readValue(name);
    if (take('IS')) {
      const isNot = take('NOT');
      demand('NULL');
      return (run) => (read(run) === null) !== isNot;
    }
    if (take('IN')) {
      const known = listed(value);
      return (run) => known.includes(read(run));
    }
    if (take('BETWEEN')) {
      const least = value();
      demand('AND');
      const most = value();
      return (run) =>
        compare(read(run), least, (order) => order >= 0) && compare(read(run), most, (order) => order <= 0);
    }
    if (take('STARTS_WITH')) {
      const prefix = String(value());
      return (run) => String(read(run) ?? '').startsWith(prefix);
    }
    const holds = operators[tokens[at] ?? ''] ?? refuse();
    at += 1;
    const wanted = value();
    return (run) => compare(read(run), wanted, holds);
  }

  function listed(value: () => Value): Value[] {
    demand('(');
    const values = [value()];
    while (take(',')) values.push(value());
    demand(')');
    return values;
  }

  function readValue(name: string): Value {
    const token = tokens[at] ?? refuse();
    at += 1;
    const text = /^["'](.*)["']$/su.exec(token)?.[1]?.replaceAll(/\\(.)/gu, '$1');
    if (text === undefined) return Number.isFinite(Number(token)) ? Number(token) : refuse();
    if (!times.has(name)) return text;
    const ms = Date.parse(text);
    return Number.isNaN(ms) ? refuse() : ms;
  }

  const filter = either();
  if (at < tokens.length) refuse();
  return filter;
}

const operators: Readonly<Record<string, (order: number) => boolean>> = {
  '=': (order) => order === 0,
  '!=': (order) => order !== 0,
  '<': (order) => order < 0,
  '<=': (order) => order <= 0,
  '>': (order) => order > 0,
  '>=': (order) => order >= 0,
};

function compare(value: Value, wanted: Value, holds: (order: number) => boolean): boolean {
  if (value === null || wanted === null) return false;
  return holds(value < wanted ? -1 : value > wanted ? 1 : 0);
}

function attributeOf({ attributes }: Run, name: string): Value {
  const payload = attributes[name];
  if (payload === undefined) return null;
  const value = fromPayload(payload);
  const [first = null] = Array.isArray(value) ? (value as Value[]) : [value as Value];
  return first;
}
