import { temporaryNames, volumeAnnotations } from '../../contracts/data-volume/metadata.ts';
import { examples, liftStop, type NextCommand, noWorker } from '../command/next-commands.ts';
import { fullName, isObjectName } from '../command/object-reference.ts';
import { problemOf, statusOf } from './listed-clone.ts';
import type { VolumeDescription } from './volume-description.ts';
import type { VolumeObject } from './volume-object.ts';

type Known = Pick<VolumeDescription, 'object' | 'run' | 'stops' | 'temporary'>;

/** What a person may want to type next for a DataVolume, the most likely first. Pure. */
export function volumeCommands(description: Known): NextCommand[] {
  const { object, run, stops } = description;
  const isOpen = run?.status === 'Running';
  return [
    ...(stops.length === 0 ? [] : liftStop),
    ...(isOpen && run.progress === null ? noWorker : []),
    ...(object === null
      ? [look('drover clones', 'see those that there are')]
      : [...byState(object, description, isOpen), describe(object)]),
  ];
}

const look = (command: string, why: string): NextCommand => ({ command, why });
const describe = ({ namespace, name }: VolumeObject): NextCommand =>
  look(`kubectl describe dv -n ${namespace} ${name}`, 'see its spec and its annotations');
const retry = (volume: VolumeObject, why: string): NextCommand => look(`drover retry dv ${fullName(volume)}`, why);
const annotate = ({ namespace, name }: VolumeObject, annotation: string, value: string, why: string): NextCommand =>
  look(`kubectl annotate dv -n ${namespace} ${name} ${annotation}=${value} --overwrite`, why);

function byState(volume: VolumeObject, description: Known, isOpen: boolean): NextCommand[] {
  const problem = problemOf(volume);
  switch (statusOf(volume)) {
    case 'left':
    case 'under way':
      return [];
    case 'complete':
      return [look(`kubectl get pvc -n ${volume.namespace} ${volume.name}`, 'see the volume')];
    case 'failed':
      return [retry(volume, 'begin the clone anew')];
    case 'unknown':
      return isOpen
        ? []
        : [
            retry(volume, 'have a run observe it now'),
            look('drover doctor', 'see whether the bridge and the workers are there'),
          ];
    case 'waiting':
      return [
        ...byReason(volume, problem?.reason ?? '', description),
        retry(volume, 'observe it now, without waiting'),
      ];
  }
}

function byReason(volume: VolumeObject, reason: string, { temporary }: Known): NextCommand[] {
  const { namespace, name } = volume;
  switch (reason) {
    case 'CloneWithoutSource':
      return lookAtSource(volume);
    case 'CloneSourceInUse':
      return [
        ...inSourceNamespace(volume, (of) => look(`kubectl get pods -n ${of}`, 'see the Pods that use the source')),
        annotate(volume, volumeAnnotations.crashConsistent, 'true', 'clone it in use, as after a loss of power'),
      ];
    case 'SnapshotNotReady':
    case 'SnapshotFailing':
      return [
        ...(temporary ?? [])
          .filter(({ kind }) => kind === 'VolumeSnapshot')
          .slice(0, examples)
          .map((one) =>
            look(`kubectl describe volumesnapshot -n ${one.namespace} ${one.name}`, 'see what is said of it'),
          ),
        annotate(volume, volumeAnnotations.onDeadline, 'copy', 'copy the data when it has waited for long enough'),
      ];
    case 'TooManySnapshots':
      return [
        look('drover clones', 'see the clones that are under way'),
        ...inSourceNamespace(volume, (of) =>
          look(`kubectl describe volumesnapshots -n ${of}`, 'see in the annotations who needs the snapshots'),
        ),
      ];
    case 'VolumeFailing':
      return [
        look(`kubectl describe pvc -n ${namespace} ${name}`, 'see what the provisioner says'),
        ...inSourceNamespace(volume, (of) =>
          of === namespace
            ? null
            : look(
                `kubectl describe pvc -n ${of} ${temporaryNames.claim(volume.uid)}`,
                'the same of the temporary one',
              ),
        ),
      ];
    case 'ErrExceededQuota':
      return [
        look(`kubectl describe resourcequota -n ${namespace}`, 'see what is used up: it goes on once it is raised'),
      ];
    case 'ErrResourceExists':
      return [
        look(`kubectl describe pvc -n ${namespace} ${name}`, 'see whose it is'),
        annotate(volume, volumeAnnotations.allowClaimAdoption, 'true', 'have the DataVolume adopt it'),
      ];
    case 'ErrClaimLost':
      return [look(`kubectl delete pvc -n ${namespace} ${name}`, 'have it made anew: its volume is lost')];
    case 'CloneNotPermitted':
      return [
        look('drover doctor --only kubernetes', 'see whether the admission policy is in force'),
        look(`kubectl delete dv -n ${namespace} ${name}`, 'then create it again: it is asked then whether you may'),
      ];
    case 'CloneValidationFailed':
    case 'ErrClaimNotValid':
      return [look(`kubectl delete dv -n ${namespace} ${name}`, 'then create it again with another spec')];
    case 'CopyNotPossible':
      return [look('kubectl get storageclasses', 'see which classes are of the driver of the source')];
    case 'Copying':
    case 'CopyFailed':
      return inSourceNamespace(volume, (of) =>
        look(
          `kubectl logs -n ${of} job/${temporaryNames.job(volume.uid)}`,
          'see how far the copy is, or why it failed',
        ),
      );
    default:
      return [];
  }
}

/** What a DataVolume names need not be a name: then there is nothing to type. */
function inSourceNamespace({ from }: VolumeObject, command: (namespace: string) => NextCommand | null): NextCommand[] {
  if (from === null || !isObjectName(from.namespace)) return [];
  const one = command(from.namespace);
  return one === null ? [] : [one];
}

const plurals = { pvc: 'pvc', snapshot: 'volumesnapshots', dataSource: 'datasources' } as const;

const lookAtSource = (volume: VolumeObject): NextCommand[] =>
  inSourceNamespace(volume, (namespace) =>
    volume.from === null
      ? null
      : look(`kubectl get ${plurals[volume.from.kind]} -n ${namespace}`, 'see which there are'),
  );
