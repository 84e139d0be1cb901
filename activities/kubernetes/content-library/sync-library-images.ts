import { clusterVirtualMachineImage, virtualMachineImage } from '../../../contracts/kinds/resources.ts';
import type {
  ContentLibraryInput,
  LibraryContent,
  LibraryImageActivities,
  LibraryImages,
  LibrarySync,
} from '../../../contracts/virtual-machine/content-library.ts';
import { anyImageSchema } from '../../../contracts/crds/virtual-machine-image.ts';
import { labels } from '../../../contracts/ids.ts';
import type { VirtualMachineSettings } from '../../../contracts/virtual-machine/lifecycle.ts';
import type { KubernetesObjects, Resource } from '../../../runtime/kubernetes/objects.ts';
import { typed } from '../../../runtime/kubernetes/resources.ts';
import { retryConflicts } from '../../../runtime/kubernetes/retry-conflicts.ts';
import { readLibraryInput } from '../../lib/input.ts';
import { mutate } from '../../lib/mutate.ts';
import { planLibraryImages, type ImageStatus } from './plan-library-images.ts';
import { type ActivityContext, contextOf, type ForActivities } from '../../lib/context.ts';

export interface LibraryImageDependencies extends ForActivities<ActivityContext> {
  objects: KubernetesObjects;
  /** Null: the kind VirtualMachine is switched off. */
  settings: VirtualMachineSettings | null;
}

type Tools = Omit<LibraryImageDependencies, 'scope'> & ActivityContext;

/** Activities on the images of content libraries, on queue `kubernetes`. */
export const createLibraryImageActivities = (dependencies: LibraryImageDependencies): LibraryImageActivities => ({
  openLibrarySync: (input) => Promise.resolve().then(() => openLibrarySync(dependencies.settings, input)),
  syncLibraryImages: ({ namespace, content }) =>
    retryConflicts(() => syncLibraryImages(contextOf(dependencies), namespace, content)),
});

function openLibrarySync(settings: LibraryImageDependencies['settings'], input: ContentLibraryInput): LibrarySync {
  const { library, namespace = null } = readLibraryInput(input);
  if (settings === null)
    return { next: 'nothing', message: 'Virtual machines are not driven here: modes.VirtualMachine is off' };
  return { next: 'run', vcenter: settings.vcenter, library, namespace };
}

async function syncLibraryImages(
  tools: Tools,
  namespace: string | null,
  content: LibraryContent,
): Promise<LibraryImages> {
  const { objects, settings, scope, clock } = tools;
  const images = imagesOf(namespace);
  const { make, change, remove, unchanged } = planLibraryImages(
    content,
    await objects.list(
      images,
      { namespace: namespace ?? undefined, labelSelector: `${labels.contentLibrary}=${content.id}` },
      scope.signal,
    ),
    new Date(clock.now()).toISOString(),
  );
  const result: LibraryImages = {
    made: [],
    changed: change.map(({ image }) => image.metadata.name),
    removed: remove.map(({ metadata }) => metadata.name),
    foreign: [],
    unchanged,
  };
  if (settings?.mode !== 'act') return { ...result, made: make.map(({ name }) => name) };
  const write: Write = (name, before, after, call) =>
    mutate(
      tools,
      {
        action: 'syncLibraryImages',
        cause: `content library ${content.name}`,
        object: `image/${namespace === null ? '' : `${namespace}/`}${name}`,
        before,
        after,
      },
      call,
    );
  for (const { name, status } of make)
    ((await makeOne(tools, write, { namespace, libraryId: content.id, name, status }))
      ? result.made
      : result.foreign
    ).push(name);
  for (const { image, status } of change)
    await write(image.metadata.name, image.status ?? null, status, () =>
      objects.patchStatus(images, image.metadata, status, scope.signal),
    );
  for (const image of remove)
    await write(image.metadata.name, image.status ?? null, null, () =>
      objects.delete(images, image.metadata, scope.signal),
    );
  return result;
}

/** Of a namespace; null: those of all. */
const imagesOf = (namespace: string | null): Resource<typeof anyImageSchema> =>
  typed(namespace === null ? clusterVirtualMachineImage : virtualMachineImage, anyImageSchema);

type Write = <Result>(name: string, before: unknown, after: unknown, call: () => Promise<Result>) => Promise<Result>;

/** False: the object of another writer has its name. */
async function makeOne(
  { objects, scope }: Tools,
  write: Write,
  wanted: { namespace: string | null; libraryId: string; name: string; status: ImageStatus },
): Promise<boolean> {
  const { namespace, libraryId, name, status } = wanted;
  return await write(name, null, status, async () => {
    const metadata = {
      name,
      labels: { [labels.contentLibrary]: libraryId },
      ...(namespace !== null && { namespace }),
    };
    const image = await objects.create(imagesOf(namespace), { metadata, spec: {} }, scope.signal);
    if (image === null) return false;
    await objects.patchStatus(imagesOf(namespace), image.metadata, status, scope.signal);
    return true;
  });
}
