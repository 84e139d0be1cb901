import { z } from 'zod';
import { anything, int32, int64, listMap, withRules } from './schema.ts';

/** How the guest is set up at its first boot (`spec.bootstrap`). Secrets are named here, never held. */

/** A key of a Secret in the namespace of the VirtualMachine. */
const secretKey = z.object({ key: z.string(), name: z.string() });

const valueOrSecretKey = withRules(z.object({ from: secretKey.optional(), value: z.string().optional() }), {
  cel: '!(has(self.from) && has(self.value))',
  message: 'from and value exclude each other',
  holds: ({ from, value }) => from === undefined || value === undefined,
});

const cloudConfig = z.object({
  defaultUserEnabled: z.boolean().optional(),
  runcmd: anything().optional(),
  ssh_pwauth: z.boolean().optional(),
  timezone: z.string().optional(),
  users: listMap(
    ['name'],
    z.object({
      create_groups: z.boolean().optional(),
      expiredate: z.string().optional(),
      gecos: z.string().optional(),
      groups: z.array(z.string()).optional(),
      hashed_passwd: secretKey.optional(),
      homedir: z.string().optional(),
      inactive: int32().optional(),
      lock_passwd: z.boolean().optional(),
      name: z.string(),
      no_create_home: z.boolean().optional(),
      no_log_init: z.boolean().optional(),
      no_user_group: z.boolean().optional(),
      passwd: secretKey.optional(),
      primary_group: z.string().optional(),
      selinux_user: z.string().optional(),
      shell: z.string().optional(),
      snapuser: z.string().optional(),
      ssh_authorized_keys: z.array(z.string()).optional(),
      ssh_import_id: z.array(z.string()).optional(),
      ssh_redirect_user: z.boolean().optional(),
      sudo: z.string().optional(),
      system: z.boolean().optional(),
      uid: int64().optional(),
    }),
  ).optional(),
  write_files: listMap(
    ['path'],
    z.object({
      append: z.boolean().optional(),
      content: anything().optional(),
      defer: z.boolean().optional(),
      encoding: z
        .enum(['b64', 'base64', 'gz', 'gzip', 'gz+b64', 'gz+base64', 'gzip+b64', 'gzip+base64', 'text/plain'])
        .default('text/plain')
        .optional(),
      owner: z.string().default('root:root').optional(),
      path: z.string(),
      permissions: z.string().default('0644').optional(),
    }),
  ).optional(),
});

const cloudInitFields = z.object({
  cloudConfig: cloudConfig.optional(),
  instanceID: z.string().optional(),
  rawCloudConfig: secretKey.optional(),
  sshAuthorizedKeys: z.array(z.string()).optional(),
  useGlobalNameserversAsDefault: z.boolean().optional(),
  useGlobalSearchDomainsAsDefault: z.boolean().optional(),
  waitOnNetwork4: z.boolean().optional(),
  waitOnNetwork6: z.boolean().optional(),
});

const linuxPrep = z.object({
  customizeAtNextPowerOn: z.boolean().optional(),
  expirePasswordAfterNextLogin: z.boolean().optional(),
  hardwareClockIsUTC: z.boolean().optional(),
  password: z
    .object({
      key: z.string().default('password').optional(),
      name: z.string(),
    })
    .optional(),
  scriptText: valueOrSecretKey.optional(),
  timeZone: z.string().optional(),
});

const sysprepFields = z.object({
  customizeAtNextPowerOn: z.boolean().optional(),
  rawSysprep: secretKey.optional(),
  sysprep: z
    .object({
      expirePasswordAfterNextLogin: z.boolean().optional(),
      guiRunOnce: z.object({ commands: z.array(z.string()).optional() }).optional(),
      guiUnattended: z
        .object({
          autoLogon: z.boolean().optional(),
          autoLogonCount: int32().optional(),
          password: z
            .object({
              key: z.string().default('password'),
              name: z.string(),
            })
            .optional(),
          timeZone: int32().min(0).default(85).optional(),
        })
        .optional(),
      identification: z
        .object({
          domainAdmin: z.string().optional(),
          domainAdminPassword: z
            .object({
              key: z.string().default('domain_admin_password'),
              name: z.string(),
            })
            .optional(),
          domainOU: z.string().optional(),
          joinWorkgroup: z.string().optional(),
        })
        .optional(),
      licenseFilePrintData: z
        .object({
          autoMode: z.enum(['perSeat', 'perServer']),
          autoUsers: int32().optional(),
        })
        .optional(),
      scriptText: valueOrSecretKey.optional(),
      userData: z.object({
        fullName: z.string().min(1),
        orgName: z.string().min(1),
        productID: z
          .object({
            key: z.string().default('product_id'),
            name: z.string(),
          })
          .optional(),
      }),
    })
    .optional(),
});

const vAppConfigFields = z.object({
  properties: listMap(
    ['key'],
    z.object({
      key: z.string(),
      value: valueOrSecretKey.optional(),
    }),
  ).optional(),
  rawProperties: z.string().optional(),
});

const cloudInit = withRules(cloudInitFields, {
  cel: '!(has(self.cloudConfig) && has(self.rawCloudConfig))',
  message: 'cloudConfig and rawCloudConfig exclude each other',
  holds: ({ cloudConfig, rawCloudConfig }) => cloudConfig === undefined || rawCloudConfig === undefined,
});

const sysprep = withRules(sysprepFields, {
  cel: 'has(self.sysprep) != has(self.rawSysprep)',
  message: 'exactly one of sysprep and rawSysprep must be set',
  holds: ({ sysprep: answers, rawSysprep }) => (answers === undefined) !== (rawSysprep === undefined),
});

const vAppConfig = withRules(vAppConfigFields, {
  cel: '!(has(self.properties) && has(self.rawProperties))',
  message: 'properties and rawProperties exclude each other',
  holds: ({ properties, rawProperties }) => properties === undefined || rawProperties === undefined,
});

export const bootstrap = withRules(
  z.object({
    cloudInit: cloudInit.optional(),
    disabled: z.boolean().optional(),
    linuxPrep: linuxPrep.optional(),
    sysprep: sysprep.optional(),
    vAppConfig: vAppConfig.optional(),
  }),
  {
    cel: '(has(self.cloudInit) ? 1 : 0) + (has(self.linuxPrep) ? 1 : 0) + (has(self.sysprep) ? 1 : 0) <= 1',
    message: 'cloudInit, linuxPrep and sysprep exclude each other',
    holds: (given) => [given.cloudInit, given.linuxPrep, given.sysprep].filter((one) => one !== undefined).length <= 1,
  },
  {
    cel: '!(has(self.cloudInit) && has(self.vAppConfig))',
    message: 'vAppConfig goes beside linuxPrep or sysprep, not beside cloudInit',
    holds: (given) => given.cloudInit === undefined || given.vAppConfig === undefined,
  },
);
