import { droverFailure } from '../../runtime/failure.ts';
import { testClock } from '../../test/fixtures/activities/nova.ts';
import { type GuestTools, listGuests } from './list-guests.ts';
import type { LibvirtConnection, ListedDomain } from './types.ts';

const signal = new AbortController().signal;
const libvirt: GuestTools['libvirt'] = {
  connectUri: 'qemu+tcp://{host}/system',
  tls: null,
  sasl: null,
};

function open(domains: () => Promise<readonly ListedDomain[]>, change: Partial<GuestTools> = {}) {
  const asked: string[] = [];
  const warned: string[] = [];
  const tools: GuestTools = {
    libvirt,
    connectLibvirt: async ({ host }) => {
      asked.push(host);
      // Of a connection nothing else is used.
      return {
        domains,
        close: async () => void asked.push('closed'),
      } as Partial<LibvirtConnection> as LibvirtConnection;
    },
    readText: async () => {
      throw new Error('there is no file to read');
    },
    addressOf: async (name) => `${name}.address`,
    clock: testClock(),
    warn: (message) => void warned.push(message),
    ...change,
  };
  return { asked, warned, list: (bound: AbortSignal = signal) => listGuests(tools, 'node-1', bound) };
}

const domain = (name: string, state: ListedDomain['state']): ListedDomain => ({ uuid: `id-${name}`, name, state });

test('what runs or is paused is a guest, what is only defined is none', async () => {
  const { list, asked } = open(async () => [
    domain('a', 'running'),
    domain('b', 'paused'),
    domain('c', 'shut-off'),
    domain('d', 'crashed'),
  ]);
  expect(await list()).toEqual([
    { uuid: 'id-a', name: 'a' },
    { uuid: 'id-b', name: 'b' },
  ]);
  expect(asked).toEqual(['node-1.address', 'closed']);
});

test('without settings no libvirt is asked', async () => {
  const { list, asked } = open(async () => [], { libvirt: null });
  expect(await list()).toBeNull();
  expect(asked).toEqual([]);
});

test('a daemon that does not answer is no witness, and that is logged', async () => {
  const { list, warned } = open(async () => {
    throw droverFailure('LibvirtUnavailable', 'no answer in time');
  });
  expect(await list()).toBeNull();
  expect(warned).toEqual([expect.stringMatching(/^Libvirt of node-1 was not asked for guests: no answer in time/u)]);
});

test('who is cancelled is not answered', async () => {
  const cancelled = new AbortController();
  const { list } = open(async () => {
    cancelled.abort(new Error('cancelled'));
    throw new Error('lost');
  });
  await expect(list(cancelled.signal)).rejects.toThrow('cancelled');
});
