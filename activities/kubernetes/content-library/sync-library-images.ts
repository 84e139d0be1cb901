import type {
  ContentLibraryInput,
  LibraryContent,
  LibraryImageActivities,
  LibraryImages,
  LibrarySync,
} from '../../../contracts/virtual-machine/content-library.ts';
import { retryConflicts } from '../../../runtime/kubernetes/retry-conflicts.ts';
import type { LibraryImagesClient } from './client.ts';
import { readLibraryInput } from '../../lib/input.ts';
import { mutate } from '../../lib/mutate.ts';
import { planLibraryImages, type ImageStatus } from './plan-library-images.ts';
import { currentScope, type ActivityScope } from '../../lib/context.ts';
import type { AnyImage } from '../virtual-machine/client.ts';
import type { VirtualMachineObjectDependencies } from '../virtual-machine/dependencies.ts';

export interface LibraryImageDependencies extends Pick<
  VirtualMachineObjectDependencies,
  'settings' | 'stopGate' | 'audit' | 'scope' | 'clock'
> {
  client: LibraryImagesClient;
}

type Tools = Omit<LibraryImageDependencies, 'scope'> & { scope: ActivityScope };

/** Activities on the images of content libraries, on queue `kubernetes`. */
export function createLibraryImageActivities({
  scope = currentScope,
  ...rest
}: LibraryImageDependencies): LibraryImageActivities {
  const tools = (): Tools => ({ ...rest, scope: scope(rest.clock) });
  return {
    openLibrarySync: (input) => Promise.resolve().then(() => openLibrarySync(rest.settings, input)),
    syncLibraryImages: ({ namespace, content }) => retryConflicts(() => syncLibraryImages(tools(), namespace, content)),
  };
}

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
  const { client, settings, scope, clock } = tools;
  const { make, change, remove, unchanged } = planLibraryImages(
    content,
    await client.list(namespace, content.id, scope.signal),
    new Date(clock.now()).toISOString(),
  );
  const told: LibraryImages = {
    made: [],
    changed: change.map(({ image }) => image.metadata.name),
    removed: remove.map(({ metadata }) => metadata.name),
    foreign: [],
    unchanged,
  };
  if (settings?.mode !== 'act') return { ...told, made: make.map(({ name }) => name) };
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
    ((await makeOne(tools, write, { namespace, libraryId: content.id, name, status })) ? told.made : told.foreign).push(
      name,
    );
  for (const { image, status } of change)
    await write(image.metadata.name, image.status ?? null, status, () =>
      client.patchStatus(image, status, scope.signal),
    );
  for (const image of remove)
    await write(image.metadata.name, image.status ?? null, null, () => client.remove(image, scope.signal));
  return told;
}

type Write = <Result>(name: string, before: unknown, after: unknown, call: () => Promise<Result>) => Promise<Result>;

/** False: the object of another writer has its name. */
async function makeOne(
  { client, scope }: Tools,
  write: Write,
  wanted: { namespace: string | null; libraryId: string; name: string; status: ImageStatus },
): Promise<boolean> {
  const { namespace, libraryId, name, status } = wanted;
  return await write(name, null, status, async () => {
    const image: AnyImage | null = await client.create(namespace, libraryId, name, scope.signal);
    if (image === null) return false;
    await client.patchStatus(image, { ...status }, scope.signal);
    return true;
  });
}
