import { proxyActivities, setCurrentDetails } from '@temporalio/workflow';
import type {
  ContentLibraryActivities,
  ContentLibraryInput,
  LibraryImageActivities,
  LibraryImages,
} from '../../contracts/virtual-machine/content-library.ts';
import { kubernetesQueue, vsphereQueue } from '../../contracts/ids.ts';
import { longCall, shortCall } from '../../contracts/policies.ts';
import { ownCluster } from '../lib/own-cluster.ts';

const images = (summary: string) =>
  proxyActivities<LibraryImageActivities>({ ...shortCall, taskQueue: kubernetesQueue(ownCluster()), summary });
const libraries = (vcenter: string, summary: string) =>
  proxyActivities<ContentLibraryActivities>({ ...longCall, taskQueue: vsphereQueue(vcenter, ownCluster()), summary });

/**
 * Reads a content library once, and makes the images in Kubernetes the same: one for each OVF and ISO. A Schedule or a
 * user starts it; whatever it is called, and if two run at once, it leads to the same.
 */
export async function syncContentLibrary(input: ContentLibraryInput): Promise<LibraryImages | { message: string }> {
  const opened = await images('Read what is asked').openLibrarySync(input);
  if (opened.next === 'nothing') return { message: opened.message };
  const { vcenter, library, namespace } = opened;
  const content = await libraries(vcenter, `Read content library ${library} of vCenter ${vcenter}`).readContentLibrary({
    library,
  });
  const where = namespace === null ? 'the cluster' : `namespace ${namespace}`;
  const outcome = await images(`Make the images of ${where} those of ${content.name}`).syncLibraryImages({
    namespace,
    content,
  });
  setCurrentDetails(describe(content.name, where, outcome));
  return outcome;
}

function describe(
  library: string,
  where: string,
  { made, changed, removed, foreign, unchanged }: LibraryImages,
): string {
  const rows = Object.entries({ made, changed, removed, 'of another owner, left alone': foreign }).flatMap(
    ([what, names]) => (names.length === 0 ? [] : [`- ${what}: ${names.join(', ')}`]),
  );
  return [`Images of **${library}** in ${where}: ${unchanged} as they should be`, ...rows].join('\n');
}
