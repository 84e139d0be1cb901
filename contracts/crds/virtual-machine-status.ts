import { z } from 'zod';
import { conditions, int32, int64, listMap, quantity, reference, time } from './schema.ts';
import { keyValue } from './virtual-machine-network.ts';

/** What is known of a VM (`status`). */

const snapshotReference = z.object({
  name: z.string(),
  type: z.enum(['Managed', 'Unmanaged']).default('Managed'),
});

const dns = z.object({
  domainName: z.string().optional(),
  hostName: z.string().optional(),
  nameservers: z.array(z.string()).optional(),
  searchDomains: z.array(z.string()).optional(),
});

const dhcpOptions = z.object({
  config: listMap(['key'], keyValue).optional(),
  enabled: z.boolean().optional(),
});

const dhcp = z.object({
  ip4: dhcpOptions.optional(),
  ip6: dhcpOptions.optional(),
});

const interfaceDns = z.object({
  dhcp: z.boolean().optional(),
  domainName: z.string().optional(),
  hostName: z.string().optional(),
  nameservers: z.array(z.string()).optional(),
  searchDomains: z.array(z.string()).optional(),
});

const interfaceStatus = z.object({
  deviceKey: int32().optional(),
  dns: interfaceDns.optional(),
  ip: z
    .object({
      addresses: z
        .array(
          z.object({
            address: z.string().optional(),
            lifetime: time().optional(),
            origin: z.enum(['dhcp', 'linklayer', 'manual', 'other', 'random']).optional(),
            state: z
              .enum(['deprecated', 'duplicate', 'inaccessible', 'invalid', 'preferred', 'tentative', 'unknown'])
              .optional(),
          }),
        )
        .optional(),
      autoConfigurationEnabled: z.boolean().optional(),
      dhcp: dhcp.optional(),
      macAddr: z.string().optional(),
    })
    .optional(),
  name: z.string().optional(),
  vmxnet3: z
    .object({
      uptv2Active: z.boolean().optional(),
      uptv2Enabled: z.boolean().optional(),
      uptv2InactiveReasonOther: z.array(z.string()).optional(),
      uptv2InactiveReasonVm: z.array(z.string()).optional(),
    })
    .optional(),
  vnumaNodeID: int32().optional(),
});

const ipStack = z.object({
  dhcp: dhcp.optional(),
  dns: interfaceDns.optional(),
  ipRoutes: z
    .array(
      z.object({
        gateway: z.object({ address: z.string().optional(), device: z.string().optional() }).optional(),
        networkAddress: z.string().optional(),
      }),
    )
    .optional(),
  kernelConfig: listMap(['key'], keyValue).optional(),
});

const wantedInterface = z.object({
  dns: dns.optional(),
  ip: z
    .object({
      addresses: z.array(z.string()).optional(),
      dhcp: z
        .object({
          ip4: z.object({ enabled: z.boolean().optional() }).optional(),
          ip6: z.object({ enabled: z.boolean().optional() }).optional(),
        })
        .optional(),
      gateway4: z.string().optional(),
      gateway6: z.string().optional(),
    })
    .optional(),
  name: z.string().optional(),
});

const networkStatus = z.object({
  config: z
    .object({
      dns: dns.optional(),
      interfaces: z.array(wantedInterface).optional(),
    })
    .optional(),
  hostName: z.string().optional(),
  interfaces: z.array(interfaceStatus).optional(),
  ipStacks: z.array(ipStack).optional(),
  primaryIP4: z.string().optional(),
  primaryIP6: z.string().optional(),
});

const hardwareStatus = z.object({
  controllers: listMap(
    ['busNumber', 'type'],
    z.object({
      busNumber: int32(),
      deviceKey: int32(),
      devices: listMap(
        ['unitNumber'],
        z.object({
          type: z.enum(['CDROM', 'Disk']),
          unitNumber: int32(),
        }),
      ).optional(),
      type: z.enum(['IDE', 'NVME', 'SCSI', 'SATA']),
    }),
  ).optional(),
  cpu: z
    .object({
      coresPerSocket: int32().optional(),
      hotAddEnabled: z.boolean().optional(),
      iommuEnabled: z.boolean().optional(),
      latencySensitivity: z.string().optional(),
      limit: int64().optional(),
      nestedHardwareVirtualizationEnabled: z.boolean().optional(),
      performanceCountersEnabled: z.boolean().optional(),
      reservation: int64().optional(),
      simultaneousThreads: int32().optional(),
      total: int32().optional(),
      vnuma: z
        .object({ autoCoresPerNumaNode: z.boolean().optional(), coresPerNumaNode: int32().optional() })
        .optional(),
    })
    .optional(),
  memory: z
    .object({
      hotAddEnabled: z.boolean().optional(),
      limit: quantity().optional(),
      reservation: quantity().optional(),
      reservationLockedToMax: z.boolean().optional(),
      total: quantity().optional(),
    })
    .optional(),
  vGPUs: z
    .array(
      z.object({
        migrationType: z.string().optional(),
        profile: z.string().optional(),
        type: z.string().optional(),
      }),
    )
    .optional(),
});

const volumeStatus = z.object({
  attached: z.boolean().optional(),
  controllerBusNumber: int32().optional(),
  controllerType: z.enum(['IDE', 'NVME', 'SCSI', 'SATA']).optional(),
  crypto: z.object({ keyID: z.string().optional(), providerID: z.string().optional() }).optional(),
  diskMode: z.enum(['IndependentNonPersistent', 'IndependentPersistent', 'NonPersistent', 'Persistent']).optional(),
  diskUUID: z.string().optional(),
  error: z.string().optional(),
  limit: quantity().optional(),
  name: z.string(),
  requested: quantity().optional(),
  sharingMode: z.enum(['MultiWriter', 'None']).optional(),
  type: z.enum(['Classic', 'Managed']).default('Managed'),
  unitNumber: int32().optional(),
  used: quantity().optional(),
});

const storageStatus = z.object({
  requested: z.object({ disks: quantity().optional() }).optional(),
  total: quantity().optional(),
  usage: z
    .object({
      disks: quantity().optional(),
      other: quantity().optional(),
      snapshots: z.object({ vm: quantity().optional(), volume: quantity().optional() }).optional(),
    })
    .optional(),
});

export const virtualMachineStatus = z.object({
  biosUUID: z.string().optional(),
  changeBlockTracking: z.boolean().optional(),
  class: reference().optional(),
  conditions: conditions().optional(),
  crypto: z
    .object({
      encrypted: z.array(z.string()).optional(),
      hasVTPM: z.boolean().optional(),
      keyID: z.string().optional(),
      providerID: z.string().optional(),
    })
    .optional(),
  currentSnapshot: snapshotReference.optional(),
  extraConfig: listMap(['key'], keyValue).optional(),
  guest: z.object({ guestFullName: z.string().optional(), guestID: z.string().optional() }).optional(),
  hardware: hardwareStatus.optional(),
  hardwareVersion: int32().optional(),
  instanceUUID: z.string().optional(),
  lastRestartTime: time().optional(),
  network: networkStatus.optional(),
  nodeName: z.string().optional(),
  policies: z
    .array(
      z.object({
        apiVersion: z.string(),
        generation: int64(),
        kind: z.string(),
        name: z.string(),
      }),
    )
    .optional(),
  powerState: z.enum(['PoweredOff', 'PoweredOn', 'Suspended']).optional(),
  provider: z.object({ creationTimestamp: time().optional() }).optional(),
  rootSnapshots: z.array(snapshotReference).optional(),
  storage: storageStatus.optional(),
  uniqueID: z.string().optional(),
  volumes: listMap(['name', 'type'], volumeStatus).optional(),
  zone: z.string().optional(),
});
