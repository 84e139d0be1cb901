/** An event of a history as JSON: its attributes lie under a key that names its type. */
type Event = Readonly<Record<string, unknown>>;
type Attributes = Readonly<Record<string, { name?: string } | string | undefined>>;

const attributesSuffix = 'EventAttributes';

/** Events that are no input and no command of a workflow: when a task was begun, and by which worker. */
const isNoise = (type: string): boolean => type.startsWith('workflowTask') || type === 'activityTaskStarted';

function read(history: object): { type: string; attributes: Attributes }[] {
  const { events } = history as { events: readonly Event[] };
  return events.flatMap((event) => {
    const key = Object.keys(event).find((name) => name.endsWith(attributesSuffix));
    return key === undefined
      ? []
      : [{ type: key.slice(0, -attributesSuffix.length), attributes: event[key] as Attributes }];
  });
}

const nameOf = (value: Attributes[string]): string => (typeof value === 'object' ? (value.name ?? '') : (value ?? ''));

/** @param history as JSON */
export const workflowTypeOf = (history: object): string => nameOf(read(history)[0]?.attributes['workflowType']);

/**
 * The same for two runs that gave the same commands in answer to the same kinds of events, whatever they were about:
 * to replay both shows no more than to replay one. Pure.
 */
export function sameCommands(history: object): string {
  const events = read(history).filter(({ type }) => !isNoise(type));
  return events
    .map(({ type, attributes: { workflowType, activityType, signalName, markerName } }) =>
      [type, ...[workflowType, activityType, signalName, markerName].map(nameOf).filter((name) => name !== '')].join(
        ' ',
      ),
    )
    .join('\n');
}
