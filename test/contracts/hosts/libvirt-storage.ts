import { observeRbdPool } from '../../../activities/hypervisor/reach-rbd-pools.ts';
import type { LibvirtConnection, RbdPool } from '../../../activities/libvirt/types.ts';
import { ownUuid } from '../../../activities/libvirt/xml.ts';
import { bodyOf, never } from './subject.ts';
import { connect, testTimeoutMs, type LibvirtSubject } from './libvirt-subject.ts';

/** A hypervisor with libvirt, and a Ceph cluster with the pool `vms`. */
export interface StorageSubject extends LibvirtSubject {
  ceph: {
    monitors: RbdPool['monitors'];
    /** Who may use the pool, and the key. */
    user: string;
    key: Buffer;
    createImage: (name: string) => Promise<void>;
    removeImage: (name: string) => Promise<void>;
    stopOsd: () => Promise<void>;
    startOsd: () => Promise<void>;
  };
}

const secretUuid = ownUuid('secret');

/**
 * What drover expects of libvirt's storage: pools of RBD images, and keys.
 *
 * @param subject of the test that runs; it may be the same for all
 */
export function libvirtStorageContract(subject: () => StorageSubject): void {
  const contract = (name: string, body: (subject: StorageSubject) => Promise<unknown>): void =>
    test(name, bodyOf(subject, body), testTimeoutMs);
  const auth = () => ({ user: subject().ceph.user, secretUuid });

  /** With the key of Ceph's in libvirt, which is gone afterwards, as every pool is. */
  async function withKey(key: Buffer, work: (libvirt: LibvirtConnection) => Promise<unknown>): Promise<void> {
    const libvirt = await connect(subject());
    try {
      await libvirt.ensureCephSecret({ uuid: secretUuid, user: subject().ceph.user, key }, never);
      await work(libvirt);
      expect(await libvirt.pools(never)).toEqual([]);
    } finally {
      await libvirt.removeSecret(secretUuid, never);
      await libvirt.close();
    }
  }

  contract('a pool is defined, defined anew, found and removed; nothing of that needs Ceph', async () => {
    const libvirt = await connect(subject());
    const name = 'drover-check-vms';
    const pool = {
      name,
      uuid: ownUuid(name),
      cephPool: 'vms',
      monitors: [{ host: '127.0.0.1', port: 1 }],
      auth: auth(),
    };
    await libvirt.ensureCephSecret({ uuid: secretUuid, user: 'libvirt', key: Buffer.alloc(16, 1) }, never);
    expect(await libvirt.defineRbdPool(pool, never)).toEqual({ name, uuid: pool.uuid });
    await libvirt.ensureCephSecret({ uuid: secretUuid, user: 'libvirt', key: Buffer.alloc(16, 2) }, never);
    const defined = await libvirt.defineRbdPool({ ...pool, auth: null }, never);
    expect(await libvirt.pools(never)).toEqual([defined]);
    expect(await libvirt.findPool(name, never)).toEqual(defined);
    expect(await libvirt.poolInfo(defined, never)).toEqual({
      isRunning: false,
      capacityBytes: 0,
      allocationBytes: 0,
      availableBytes: 0,
    });
    for (const ask of [libvirt.refreshPool(defined, never), libvirt.poolVolumes(defined, never)])
      await expect(ask).rejects.toMatchObject({
        message: expect.stringContaining(`Requested operation is not valid: storage pool '${name}' is not active`),
      });
    await expect(libvirt.defineRbdPool({ ...pool, uuid: ownUuid('another') }, never)).rejects.toMatchObject({
      type: 'HypervisorFailed',
      message: expect.stringContaining(`operation failed: pool '${name}' already exists with uuid ${pool.uuid}.`),
    });
    await expect(libvirt.defineRbdPool({ ...pool, name: 'another' }, never)).rejects.toMatchObject({
      type: 'HypervisorFailed',
      message: expect.stringContaining(`operation failed: pool '${name}' is already defined with uuid ${pool.uuid}.`),
    });
    await libvirt.removePool(defined, never);
    await libvirt.removePool(defined, never);
    expect(await libvirt.findPool(name, never)).toBeNull();
    await expect(libvirt.poolInfo(defined, never)).rejects.toMatchObject({ type: 'StoragePoolNotFound' });
    await libvirt.removeSecret(secretUuid, never);
    await libvirt.removeSecret(secretUuid, never);
    await libvirt.close();
  });

  contract('a pool without Ceph fails in libvirt’s 30 s, and its connection lives on', async ({ clock }) => {
    const libvirt = await connect(subject());
    const observed = await observeRbdPool(
      libvirt,
      { cephPool: 'vms', monitors: [{ host: '127.0.0.1', port: 1 }], auth: null },
      clock,
      never,
    );
    expect(observed).toMatchObject({
      outcome: 'failed',
      code: 'HypervisorFailed',
      message: expect.stringMatching(
        /answered storagePoolCreate: failed to connect to the RADOS monitor on: 127\.0\.0\.1:1,: /u,
      ),
    });
    expect(observed.durationMs).toBeGreaterThan(25_000);
    expect(await libvirt.pools(never)).toEqual([]);
    await libvirt.close();
  });

  contract('the images of a pool are listed with the key that opens it', async ({ ceph, clock }) => {
    await ceph.createImage('disk');
    try {
      await withKey(ceph.key, async (libvirt) => {
        expect(
          await observeRbdPool(libvirt, { cephPool: 'vms', monitors: ceph.monitors, auth: auth() }, clock, never),
        ).toEqual({ pool: 'vms', durationMs: expect.any(Number), outcome: 'listed', images: 1 });
      });
    } finally {
      await ceph.removeImage('disk');
    }
  });

  contract('a running pool is running, started again without an error, and defined anew', async ({ ceph }) => {
    await withKey(ceph.key, async (libvirt) => {
      const wanted = {
        name: 'drover-check-vms',
        uuid: ownUuid('drover-check-vms'),
        cephPool: 'vms',
        monitors: ceph.monitors,
        auth: auth(),
      };
      const pool = await libvirt.defineRbdPool(wanted, never);
      await libvirt.startPool(pool, never);
      await libvirt.startPool(pool, never);
      expect(await libvirt.poolInfo(pool, never)).toMatchObject({ isRunning: true, capacityBytes: expect.any(Number) });
      expect((await libvirt.poolInfo(pool, never)).capacityBytes).toBeGreaterThan(0);
      expect(await libvirt.defineRbdPool(wanted, never)).toEqual(pool);
      expect((await libvirt.poolInfo(pool, never)).isRunning).toBe(true);
      await ceph.createImage('later');
      try {
        expect(await libvirt.poolVolumes(pool, never)).toEqual([]);
        await libvirt.refreshPool(pool, never);
        expect(await libvirt.poolVolumes(pool, never)).toEqual(['later']);
      } finally {
        await ceph.removeImage('later');
      }
      await libvirt.removePool(pool, never);
    });
  });

  contract(
    'a wrong key, no key, a pool that is missing: libvirt says why, and nothing is left',
    async ({ ceph, clock }) => {
      const see = (libvirt: LibvirtConnection, pool: Partial<Pick<RbdPool, 'cephPool' | 'auth'>>) =>
        observeRbdPool(libvirt, { cephPool: 'vms', monitors: ceph.monitors, auth: auth(), ...pool }, clock, never);
      const wrong = Buffer.from(ceph.key);
      wrong.writeUInt8(wrong.readUInt8(20) ^ 1, 20);
      await withKey(wrong, async (libvirt) => {
        expect(await see(libvirt, {})).toMatchObject({
          outcome: 'failed',
          code: 'HypervisorFailed',
          message: expect.stringContaining('answered storagePoolCreate: failed to connect to the RADOS monitor on: '),
        });
      });
      await withKey(ceph.key, async (libvirt) => {
        expect(await see(libvirt, { cephPool: 'nowhere' })).toMatchObject({
          outcome: 'failed',
          code: 'HypervisorFailed',
          message: expect.stringContaining(
            "answered storagePoolCreate: failed to create the RBD IoCTX. Does the pool 'nowhere' exist?: No such file or directory.",
          ),
        });
        expect(await see(libvirt, { auth: { user: ceph.user, secretUuid: ownUuid('no such secret') } })).toMatchObject({
          outcome: 'failed',
          code: 'LibvirtRefused',
          message: expect.stringContaining(
            `answered storagePoolCreate: Secret not found: no secret with matching uuid '${ownUuid('no such secret')}'.`,
          ),
        });
      });
    },
  );

  contract('without its OSDs a running pool fails to be refreshed, and does not run any more', async ({ ceph }) => {
    await withKey(ceph.key, async (libvirt) => {
      const pool = await libvirt.defineRbdPool(
        {
          name: 'drover-check-vms',
          uuid: ownUuid('drover-check-vms'),
          cephPool: 'vms',
          monitors: ceph.monitors,
          auth: auth(),
        },
        never,
      );
      await libvirt.startPool(pool, never);
      await ceph.stopOsd();
      try {
        await expect(libvirt.refreshPool(pool, never)).rejects.toMatchObject({
          type: 'HypervisorFailed',
          message: expect.stringContaining('answered storagePoolRefresh: Unable to list RBD images: '),
        });
        expect((await libvirt.poolInfo(pool, never)).isRunning).toBe(false);
      } finally {
        await ceph.startOsd();
      }
      await libvirt.removePool(pool, never);
    });
  });
}
