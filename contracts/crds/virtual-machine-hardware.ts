import { z } from 'zod';
import { int32, listMap, quantity, wholeQuantity, withRules } from './schema.ts';
import { keyValue } from './virtual-machine-network.ts';

/** What the VM is made of, beyond its class. */

export const cdrom = z.object({
  allowGuestControl: z.boolean().default(true).optional(),
  connected: z.boolean().default(true).optional(),
  controllerBusNumber: int32().optional(),
  controllerType: z.enum(['IDE', 'NVME', 'SCSI', 'SATA']).optional(),
  image: z.object({ kind: z.string(), name: z.string() }),
  name: z.string().regex(/^[a-z0-9]{2,}$/),
  unitNumber: int32().optional(),
});

export const hardware = z.object({
  cdrom: listMap(['name'], cdrom).optional(),
  ideControllers: listMap(
    ['busNumber'],
    z.object({
      busNumber: int32().min(0).max(1),
    }),
  )
    .max(2)
    .optional(),
  nvmeControllers: listMap(
    ['busNumber'],
    z.object({
      busNumber: int32().min(0).max(3),
      sharingMode: z.enum(['None', 'Physical']).default('None').optional(),
    }),
  )
    .max(4)
    .optional(),
  sataControllers: listMap(
    ['busNumber'],
    z.object({
      busNumber: int32().min(0).max(3),
    }),
  )
    .max(4)
    .optional(),
  scsiControllers: listMap(
    ['busNumber'],
    z.object({
      busNumber: int32().min(0).max(3),
      sharingMode: z.enum(['None', 'Physical', 'Virtual']).default('None').optional(),
      type: z.enum(['ParaVirtual', 'BusLogic', 'LsiLogic', 'LsiLogicSAS']).default('ParaVirtual').optional(),
    }),
  )
    .max(4)
    .optional(),
});

export const volume = z.object({
  applicationType: z.enum(['OracleRAC', 'MicrosoftWSFC']).optional(),
  controllerBusNumber: int32().optional(),
  controllerType: z.enum(['IDE', 'NVME', 'SCSI', 'SATA']).optional(),
  diskMode: z.enum(['IndependentNonPersistent', 'IndependentPersistent', 'NonPersistent', 'Persistent']).optional(),
  name: z.string(),
  persistentVolumeClaim: z
    .object({
      claimName: z.string(),
      instanceVolumeClaim: z.object({ size: quantity(), storageClass: z.string() }).optional(),
      readOnly: z.boolean().optional(),
    })
    .optional(),
  removable: z.boolean().default(true).optional(),
  sharingMode: z.enum(['MultiWriter', 'None']).optional(),
  unitNumber: int32().optional(),
});

const amounts = z.object({
  cpu: wholeQuantity().optional(),
  memory: quantity().optional(),
});

export const resources = z.object({
  limits: amounts.optional(),
  requests: amounts.optional(),
  size: amounts.optional(),
});

const topology = withRules(
  z.object({ coresPerSocket: int32().min(0).optional(), vnumaNodeCount: int32().min(0).optional() }),
  {
    cel: '!has(self.vnumaNodeCount) || self.vnumaNodeCount == 0 || (has(self.coresPerSocket) && self.coresPerSocket > 0)',
    message: 'vnumaNodeCount needs coresPerSocket',
    holds: ({ vnumaNodeCount = 0, coresPerSocket = 0 }) => vnumaNodeCount === 0 || coresPerSocket > 0,
  },
);

export const cpuAdvanced = z.object({
  hotAddEnabled: z.boolean().optional(),
  iommuEnabled: z.boolean().optional(),
  latencySensitivity: z.enum(['Normal', 'High', 'HighWithHyperthreading']).optional(),
  nestedHardwareVirtualizationEnabled: z.boolean().optional(),
  performanceCountersEnabled: z.boolean().optional(),
  topology: topology.optional(),
});

export const memoryAdvanced = z.object({
  hotAddEnabled: z.boolean().optional(),
  reservationLockedToMax: z.boolean().optional(),
});

export const advanced = z.object({
  bootDiskCapacity: quantity().optional(),
  changeBlockTracking: z.boolean().optional(),
  cpuAffinityExclusiveNoStatsEnabled: z.boolean().optional(),
  defaultVolumeProvisioningMode: z.enum(['Thin', 'Thick', 'ThickEagerZero']).optional(),
  extraConfig: listMap(['key'], keyValue).optional(),
  hugePages1GEnabled: z.boolean().optional(),
  pnumaNodeAffinity: z.array(int32()).optional(),
  preferHtEnabled: z.boolean().optional(),
  timeTrackerLowLatencyEnabled: z.boolean().optional(),
  vmxSwapEnabled: z.boolean().optional(),
});

const bootOptionsFields = z.object({
  bootDelay: z.string().optional(),
  bootOrder: z
    .array(
      z.object({
        name: z.string().optional(),
        type: z.enum(['Disk', 'Network', 'CDRom']),
      }),
    )
    .optional(),
  bootRetry: z.string().default('Disabled').optional(),
  bootRetryDelay: z.string().optional(),
  efiSecureBoot: z.enum(['Enabled', 'Disabled']).default('Disabled').optional(),
  firmware: z.enum(['bios', 'efi']).optional(),
  networkBootProtocol: z.enum(['IP4', 'IP6']).default('IP4').optional(),
});

export const bootOptions = withRules(
  bootOptionsFields,
  {
    cel: "!has(self.efiSecureBoot) || self.efiSecureBoot != 'Enabled' || (has(self.firmware) && self.firmware == 'efi')",
    message: 'efiSecureBoot needs firmware efi',
    holds: ({ efiSecureBoot, firmware }) => efiSecureBoot !== 'Enabled' || firmware === 'efi',
  },
  {
    cel: "!has(self.bootRetryDelay) || (has(self.bootRetry) && self.bootRetry == 'Enabled')",
    message: 'bootRetryDelay needs bootRetry Enabled',
    holds: ({ bootRetryDelay, bootRetry }) => bootRetryDelay === undefined || bootRetry === 'Enabled',
  },
);
