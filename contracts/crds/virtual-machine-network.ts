import { z } from 'zod';
import { int32, int64, listMap, withRules } from './schema.ts';

/** What the VM is connected to (`spec.network`). */

/** A row of a list that is keyed by `key`. */
export const keyValue = z.object({ key: z.string(), value: z.string().optional() });

const vmxnet3 = z.object({
  coalescingParams: z.string().max(127).optional(),
  coalescingScheme: z.string().max(127).optional(),
  ctxPerDev: z
    .string()
    .max(50)
    .regex(/^(PerDevice|PerVM|PerQueue|[1-9])$/)
    .optional(),
  pnicFeatures: z
    .array(
      z
        .string()
        .max(50)
        .regex(/^(LargeReceiveOffload|ReceiveSideScaling|[1-9][0-9]*)$/),
    )
    .max(16)
    .optional(),
  rssOffloadEnabled: z.boolean().optional(),
  udpRssEnabled: z.boolean().optional(),
  uptv2Enabled: z.boolean().optional(),
});

const networkInterfaceFields = z.object({
  addresses: z.array(z.string()).optional(),
  advancedProperties: listMap(['key'], keyValue).optional(),
  dhcp4: z.boolean().optional(),
  dhcp6: z.boolean().optional(),
  gateway4: z.string().optional(),
  gateway6: z.string().optional(),
  guestDeviceName: z
    .string()
    .regex(/^\w\w+$/)
    .optional(),
  ipamModes: z.array(z.string()).max(2).optional(),
  macAddr: z
    .string()
    .regex(/^([0-9A-Fa-f]{2}:){5}([0-9A-Fa-f]{2})$/)
    .optional(),
  mtu: int64().optional(),
  name: z.string().regex(/^[a-z0-9]{2,}$/),
  nameservers: z.array(z.string()).optional(),
  network: z.object({ apiVersion: z.string().optional(), kind: z.string().optional(), name: z.string() }).optional(),
  routes: z
    .array(
      z.object({
        metric: int32().min(1).optional(),
        to: z.string(),
        via: z.string(),
      }),
    )
    .optional(),
  searchDomains: z.array(z.string()).optional(),
  type: z.enum(['VMXNet3', 'SRIOV', 'E1000', 'E1000e', 'VMXNet2', 'PCNet32']).optional(),
  vmxnet3: vmxnet3.optional(),
  vnumaNodeID: int32().min(0).optional(),
});

const networkInterface = withRules(networkInterfaceFields, {
  cel: "!has(self.vmxnet3) || !has(self.type) || self.type == 'VMXNet3'",
  message: 'vmxnet3 needs type VMXNet3',
  holds: ({ vmxnet3: options, type }) => options === undefined || type === undefined || type === 'VMXNet3',
});

export const network = z.object({
  disabled: z.boolean().optional(),
  domainName: z.string().optional(),
  hostName: z.string().optional(),
  interfaces: listMap(['name'], networkInterface).max(10).optional(),
  nameservers: z.array(z.string()).optional(),
  searchDomains: z.array(z.string()).optional(),
  vlans: listMap(
    ['name'],
    z.object({
      id: int64().min(0).max(4094),
      link: z.string(),
      name: z
        .string()
        .min(1)
        .max(15)
        .regex(/^[a-zA-Z0-9][a-zA-Z0-9._-]*$/),
    }),
  ).optional(),
});
