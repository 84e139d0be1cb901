import type { Library } from '../../../lab/vsphere/library.ts';
import type { VirtualMachineConfigSpec } from '../../../activities/vsphere/wire/vim/types.ts';
import { filePath, type Files } from './datastores.ts';
import { firstDisk } from './hardware.ts';
import type { Model } from './model.ts';

export interface LibraryItem {
  id: string;
  name: string;
  type: 'ovf' | 'iso';
  libraryId: string;
  /** What a VM of it is made with; null: it is no OVF that vCenter can read. */
  hardware: VirtualMachineConfigSpec | null;
  /** `[LocalDS_0] contentlib-…/…/install.iso`. */
  file: string;
}

export interface ContentLibraries {
  libraries: { id: string; name: string }[];
  items: LibraryItem[];
  /** The same that lab/vsphere/library.ts makes. */
  make(name: string): Library;
  remove(library: string, item: string): void;
}

/** Three CPUs, 96 MiB, a disk of 1 GiB and a card, as in lab/vsphere/library.ts. */
const tiny: VirtualMachineConfigSpec = {
  numCPUs: 3,
  memoryMB: 96,
  deviceChange: [
    { operation: 'add', device: { $type: 'VirtualLsiLogicController', key: -1, busNumber: 0, sharedBus: 'noSharing' } },
    firstDisk(1_024 ** 2),
  ],
};

export function openLibraries(model: Model, files: Files, datastore: string): ContentLibraries {
  const libraries: ContentLibraries['libraries'] = [];
  const items: LibraryItem[] = [];
  return {
    libraries,
    items,
    make(name) {
      const library = { id: model.uuid(), name };
      libraries.push(library);
      const put = (file: string, type: LibraryItem['type'], hardware: VirtualMachineConfigSpec | null): string => {
        const id = model.uuid();
        const folder = filePath(datastore, `contentlib-${library.id}/${id}`);
        files.makeDirectory(folder, true);
        files.write(`${folder}/${file}`, { kind: 'file', bytes: 2_048 });
        items.push({
          id,
          name: file.replace(/\.\w+$/u, ''),
          type,
          libraryId: library.id,
          hardware,
          file: `${folder}/${file}`,
        });
        return id;
      };
      return {
        name,
        ovf: put('tiny.ovf', 'ovf', tiny),
        ova: put('packed.ova', 'ovf', tiny),
        iso: put('install.iso', 'iso', null),
        broken: put('broken.ovf', 'ovf', null),
      };
    },
    remove(libraryName, name) {
      const library = libraries.find((one) => one.name === libraryName);
      const index = items.findIndex((item) => item.libraryId === library?.id && item.name === name);
      if (index === -1) throw new Error(`library ${libraryName} has no ${name}`);
      items.splice(index, 1);
    },
  };
}
