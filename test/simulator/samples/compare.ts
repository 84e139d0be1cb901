import { type Client, isGrpcServiceError } from '@temporalio/client';
import { grpcStatus } from '../temporal/api/grpc.ts';

/** Histories of a scenario's workflows, in a form in which those of two servers can be compared. */

/** What depends on the server, its version, the machine or chance. */
const dropped = new Set([
  'eventTime',
  'taskId',
  'version',
  'identity',
  'requestId',
  'sdkMetadata',
  'workerVersion',
  'historySizeBytes',
  'stackTrace',
  'namespace',
  'namespaceId',
  'parentWorkflowNamespaceId',
  'parentWorkflowNamespace',
  'externalNamespace',
  'taskQueue',
  'workerDeploymentVersion',
  'workerDeploymentName',
  'deploymentVersion',
  'versioningBehavior',
  'links',
  'workerMayIgnore',
  'control',
  'binaryChecksum',
  'suggestContinueAsNewReasons',
  'priority',
  'useWorkflowBuildId',
  'inheritBuildId',
  'workflowRunTimeout',
  'workflowExecutionTimeout',
  'scheduledBy',
  'firstWorkflowTaskBackoff',
  'eventType',
  'acceptedRequestMessageId',
  'requestIdInfos',
  'workflowRunExpirationTime',
  'prevAutoResetPoints',
  'initiatedEventVersion',
  'parentInitiatedEventVersion',
]);

/** Of every run of the workflow, the oldest first: its events. None where there is no such workflow. */
export async function readHistories(
  client: Client,
  workflowId: string,
  runs: Map<string, string>,
): Promise<unknown[][]> {
  const histories: unknown[][] = [];
  for (let runId: string | undefined = undefined; ;) {
    const { events } = await client.workflow.getHandle(workflowId, runId).fetchHistory().catch(asNone);
    if (events === null) return histories;
    histories.unshift((events ?? []).map((event) => normalise(event, runs)));
    const before: string = events?.[0]?.workflowExecutionStartedEventAttributes?.continuedExecutionRunId ?? '';
    if (before === '') return histories;
    runId = before;
  }
}

function asNone(error: Error): { events: null } {
  if (isGrpcServiceError(error) && (error.code as number) === grpcStatus.notFound) return { events: null };
  throw error;
}

const uuid = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/gu;

/** @param runs names of what has ids by chance */
function normalise(value: unknown, runs: Map<string, string>): unknown {
  // How long a call took is of no matter.
  if (value instanceof Uint8Array)
    return normalise(
      Buffer.from(value)
        .toString()
        .replaceAll(/",\d+\]/gu, '",ms]'),
      runs,
    );
  if (typeof value === 'string') return value.replaceAll(uuid, (id) => runs.get(id) ?? nameRun(id, runs));
  if (typeof value !== 'object' || value === null) return value;
  if ('low' in value && 'high' in value) return Number(value);
  if (Array.isArray(value)) return value.map((item) => normalise(item, runs));
  const fields = Object.entries(value)
    .filter(([name]) => !dropped.has(name))
    .map(([name, field]) => [name, normalise(field, runs)] as const)
    .filter(([, field]) => !isEmpty(field));
  return Object.fromEntries(fields.toSorted(([a], [b]) => a.localeCompare(b)));
}

function nameRun(id: string, runs: Map<string, string>): string {
  const name = `id-${runs.size + 1}`;
  runs.set(id, name);
  return name;
}

const isEmpty = (field: unknown): boolean =>
  field === null ||
  field === undefined ||
  field === '' ||
  field === 0 ||
  field === false ||
  (typeof field === 'object' && Object.keys(field).length === 0);
