import type { DataVolume } from '../crds/data-volume.ts';
import type {
  ClaimedVolume,
  DesiredVolume,
  ObservedVolume,
  VolumeCondition,
  VolumeProblem,
  VolumeSource,
} from './data-volume.ts';
import { dataVolumeFinalizer, outcomes, phases, strategies, volumeAnnotations, type VolumePhase } from './metadata.ts';

/** What a DataVolume says. Pure. */

export interface ReadVolume {
  desired: DesiredVolume;
  /** What of its spec or of its annotations cannot be; null: nothing. */
  problem: VolumeProblem | null;
}

/** What the object asks for. An object that came past the rules of its definition says what is wrong with it. */
export function readDataVolume({ metadata, spec }: Pick<DataVolume, 'metadata' | 'spec'>): ReadVolume {
  const { name, namespace = '', annotations = {} } = metadata;
  const named = sourcesOf(spec, namespace);
  const adopts = annotations[volumeAnnotations.allowClaimAdoption];
  const onDeadline = annotations[volumeAnnotations.onDeadline];
  const isSet = (key: string): boolean => annotations[key] !== undefined;
  const desired: DesiredVolume = {
    uid: metadata.uid,
    generation: metadata.generation,
    createdMs: Date.parse(metadata.creationTimestamp),
    deleting: metadata.deletionTimestamp !== undefined,
    isHeld: metadata.finalizers?.includes(dataVolumeFinalizer) ?? false,
    source: named.length === 1 ? (named[0]?.source ?? null) : null,
    foreignSource: foreignOf(spec, named),
    isLeft: isSet(volumeAnnotations.leftTo),
    contentType: spec.contentType ?? 'kubevirt',
    api: spec.storage === undefined ? 'pvc' : 'storage',
    prePopulatedBy: isSet(volumeAnnotations.prePopulated) ? annotations[volumeAnnotations.prePopulated] || name : null,
    isPermissive: isSet(volumeAnnotations.permissiveClone) || isSet(volumeAnnotations.permissiveCloneBefore),
    bindsImmediately: isSet(volumeAnnotations.bindImmediately),
    crashConsistent: annotations[volumeAnnotations.crashConsistent] === 'true',
    onDeadline: outcomes.find((outcome) => outcome === onDeadline) ?? null,
    adopts: adopts === 'true' ? true : adopts === 'false' ? false : null,
  };
  return { desired, problem: problemOf(desired, spec, named, onDeadline) };
}

interface NamedSource {
  name: string;
  /** Null: of CDI. */
  source: VolumeSource | null;
}

function sourcesOf({ source = {}, sourceRef }: DataVolume['spec'], own: string): NamedSource[] {
  const named = Object.entries(source).filter(([, value]) => value !== undefined && value !== null);
  return [
    ...named.map(([name]) => ({ name, source: ownSource(name, source) })),
    ...(sourceRef === undefined
      ? []
      : [
          {
            name: 'sourceRef',
            source: { kind: 'dataSource', namespace: sourceRef.namespace || own, name: sourceRef.name } as const,
          },
        ]),
  ];
}

function ownSource(name: string, source: NonNullable<DataVolume['spec']['source']>): VolumeSource | null {
  if (name === 'blank') return { kind: 'blank' };
  if (name !== 'pvc' && name !== 'snapshot') return null;
  const of = source[name];
  return of === undefined ? null : { kind: name, namespace: of.namespace, name: of.name };
}

/** The populator of another kind fills it where no source is named. */
function foreignOf({ pvc, storage }: DataVolume['spec'], named: readonly NamedSource[]): string {
  if (named.length > 0) return named.length === 1 && named[0]?.source === null ? named[0].name : '';
  const isOfPopulator = [pvc, storage].some((one) => (one?.dataSource ?? one?.dataSourceRef) !== undefined);
  return isOfPopulator ? 'none' : '';
}

function problemOf(
  { source, foreignSource, contentType }: DesiredVolume,
  { sourceRef }: DataVolume['spec'],
  named: readonly NamedSource[],
  onDeadline: string | undefined,
): VolumeProblem | null {
  const invalid = (message: string): VolumeProblem => ({ reason: 'ErrClaimNotValid', message });
  const isBoth = sourceRef !== undefined && named.length > 1;
  if (isBoth || (named.length === 0 && foreignSource === ''))
    return invalid('Data volume should have either Source or SourceRef, or be externally populated');
  if (named.length > 1) return invalid('Multiple Data volume sources');
  if (foreignSource !== '') return null;
  if (sourceRef !== undefined && sourceRef.kind !== 'DataSource')
    return invalid(`Unsupported sourceRef kind ${sourceRef.kind}, currently only DataSource is supported`);
  if (source?.kind === 'blank' && contentType === 'archive')
    return invalid('SourceType cannot be blank and the contentType be archive');
  return onDeadline === undefined || outcomes.some((outcome) => outcome === onDeadline)
    ? null
    : invalid(`${volumeAnnotations.onDeadline} is ${onDeadline}: it can be ${outcomes.join(', ')}`);
}

/** What its status says. `sinceMs`: when its condition Running changed last, in whatever it says. */
export function readRecordedVolume({ status = {} }: Pick<DataVolume, 'status'>): ObservedVolume['recorded'] {
  const { phase = '', progress = '', claimName, conditions = [] } = status;
  const running = conditions.find(({ type }) => type === 'Running');
  const sinceMs = Date.parse(running?.lastHeartbeatTime ?? running?.lastTransitionTime ?? '');
  return {
    phase: phaseOf(phase),
    progress,
    claimName: claimName ?? null,
    conditions: conditions.flatMap(({ type, status: said, reason = '', message = '' }) =>
      isOwn(type) ? [{ type, status: said, reason, message }] : [],
    ),
    event: null,
    sinceMs: Number.isNaN(sinceMs) ? null : sinceMs,
  };
}

const phaseOf = (phase: string): VolumePhase => phases.find((one) => one === phase) ?? (phase === '' ? '' : 'Unknown');

const isOwn = (type: string): type is VolumeCondition['type'] => ['Bound', 'Running', 'Ready'].includes(type);

/** What was fixed when the clone began; null: it has not begun, or what is written there is none of it. */
export function readClaimedVolume({ metadata }: Pick<DataVolume, 'metadata'>): ClaimedVolume | null {
  const { annotations = {} } = metadata;
  const strategy = strategies.find((one) => one === annotations[volumeAnnotations.cloneType]);
  const source = readSource(annotations[volumeAnnotations.cloneSource]);
  if (strategy === undefined || source === null) return null;
  return { strategy, fallbackReason: annotations[volumeAnnotations.cloneFallbackReason] || null, source };
}

/** As {@link readClaimedVolume} reads it. */
export const writeClaimedSource = ({ kind, namespace, name, uid }: ClaimedVolume['source']): string =>
  JSON.stringify({ kind, namespace, name, uid });

function readSource(text: string | undefined): ClaimedVolume['source'] | null {
  const { kind, namespace, name, uid } = parsed(text);
  const isWhole = [namespace, name, uid].every((one) => typeof one === 'string' && one !== '');
  return isWhole && (kind === 'pvc' || kind === 'snapshot')
    ? ({ kind, namespace, name, uid } as ClaimedVolume['source'])
    : null;
}

function parsed(text: string | undefined): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text ?? '{}');
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}
