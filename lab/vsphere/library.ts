import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { govc, govcJson } from './govc.ts';
import { inventory, type VsphereHandle } from './handle.ts';

/** A content library of the lab's vCenter, and the ids of its items. */
export interface Library {
  name: string;
  ovf: string;
  /** The same as one file. */
  ova: string;
  iso: string;
  /** An OVF that vCenter cannot read. */
  broken: string;
}

/** Makes a library on the first datastore: govc imports what it holds. */
export async function makeLibrary(vsphere: VsphereHandle, name: string): Promise<Library> {
  const [datastore] = inventory.datastores;
  await govc(vsphere, 'library.create', '-ds', datastore, name);
  const dir = mkdtempSync(join(tmpdir(), 'drover-library-'));
  const put = async (file: string, content: string | Buffer): Promise<string> => {
    writeFileSync(join(dir, file), content);
    await govc(vsphere, 'library.import', '-d=false', name, join(dir, file));
    const item = file.replace(/\.\w+$/u, '');
    const [found] = await govcJson<{ id: string }[]>(vsphere, 'library.info', `/${name}/${item}`);
    if (found === undefined) throw new Error(`library ${name} has no ${item}`);
    return found.id;
  };
  try {
    return {
      name,
      ovf: await put('tiny.ovf', descriptor),
      ova: await put('packed.ova', tar('packed.ovf', descriptor)),
      // No disk image: nothing boots from it here.
      iso: await put('install.iso', Buffer.alloc(2_048)),
      broken: await put('broken.ovf', '<Envelope>'),
    };
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}

const rasd = 'http://schemas.dmtf.org/wbem/wscim/1/cim-schema/2/CIM_ResourceAllocationSettingData';
/** Elements of an item come in the order of the alphabet. */
const item = (elements: Record<string, string | number>): string =>
  `<Item>${Object.entries(elements)
    .toSorted(([one], [other]) => (one < other ? -1 : 1))
    .map(([name, value]) => `<rasd:${name}>${value}</rasd:${name}>`)
    .join('')}</Item>`;

/** Three CPUs, 96 MiB, a disk of 1 GiB and a card. */
const descriptor = `<?xml version="1.0" encoding="UTF-8"?>
<Envelope xmlns="http://schemas.dmtf.org/ovf/envelope/1" xmlns:ovf="http://schemas.dmtf.org/ovf/envelope/1" xmlns:rasd="${rasd}" xmlns:vssd="http://schemas.dmtf.org/wbem/wscim/1/cim-schema/2/CIM_VirtualSystemSettingData">
  <References/>
  <DiskSection><Info>Disks</Info><Disk ovf:capacity="1" ovf:capacityAllocationUnits="byte * 2^30" ovf:diskId="disk1" ovf:format="http://www.vmware.com/interfaces/specifications/vmdk.html#streamOptimized"/></DiskSection>
  <NetworkSection><Info>Networks</Info><Network ovf:name="net"><Description>Any</Description></Network></NetworkSection>
  <VirtualSystem ovf:id="tiny">
    <Info>A VM</Info>
    <Name>tiny</Name>
    <OperatingSystemSection ovf:id="101"><Info>Its system</Info></OperatingSystemSection>
    <VirtualHardwareSection>
      <Info>Hardware</Info>
      <System><vssd:ElementName>Virtual Hardware Family</vssd:ElementName><vssd:InstanceID>0</vssd:InstanceID><vssd:VirtualSystemType>vmx-15</vssd:VirtualSystemType></System>
      ${item({ InstanceID: 1, ResourceType: 3, ElementName: 'cpus', VirtualQuantity: 3 })}
      ${item({ InstanceID: 2, ResourceType: 4, ElementName: 'memory', VirtualQuantity: 96, AllocationUnits: 'byte * 2^20' })}
      ${item({ InstanceID: 3, ResourceType: 6, ElementName: 'scsi', ResourceSubType: 'lsilogic', Address: 0 })}
      ${item({ InstanceID: 4, ResourceType: 17, ElementName: 'disk', Parent: 3, AddressOnParent: 0, HostResource: 'ovf:/disk/disk1' })}
      ${item({ InstanceID: 5, ResourceType: 10, ElementName: 'card', ResourceSubType: 'VmxNet3', AddressOnParent: 7, AutomaticAllocation: 'true', Connection: 'net' })}
    </VirtualHardwareSection>
  </VirtualSystem>
</Envelope>
`;

/** An archive of one file, as an OVA is one. */
function tar(name: string, content: string): Buffer {
  const body = Buffer.from(content);
  const header = Buffer.alloc(512);
  const octal = (value: number, length: number): string => `${value.toString(8).padStart(length - 1, '0')}\0`;
  header.write(name, 0);
  header.write(octal(0o644, 8), 100);
  for (const [at, length] of [
    [108, 8],
    [116, 8],
    [136, 12],
  ] as const)
    header.write(octal(0, length), at);
  header.write(octal(body.length, 12), 124);
  header.write('        0', 148);
  header.write('ustar\u000000', 257);
  header.write(
    octal(
      header.reduce((sum, byte) => sum + byte, 0),
      7,
    ),
    148,
  );
  // It ends with two empty blocks.
  return Buffer.concat([header, body, Buffer.alloc(512 - (body.length % 512)), Buffer.alloc(1_024)]);
}
