import { emptyTally, judgeGuests, takeGuestDown, takeGuestEvent, type GuestTally } from './guest-tally.ts';
import type { DomainEvent } from './types.ts';

const limits = { windowMs: 600_000, ioErrors: 3, failingGuests: 2 };
const vm = (digit: number) => ({ uuid: `8a3b1c5e-0000-4000-8000-00000000000${digit}`, name: `vm-${digit}` });

type What =
  | 'crash'
  | 'failed'
  | 'shutdown'
  | 'start'
  | 'reboot'
  | 'watchdog'
  | 'io-error'
  | 'migrated'
  | 'undefined'
  | 'found-down';
type Told = [guest: number, what: What, atMs?: number];

const eventOf = (guest: number, what: Exclude<What, 'found-down'>): DomainEvent => {
  const domain = vm(guest);
  switch (what) {
    case 'crash':
      return { domain, type: 'crashed' };
    case 'failed':
    case 'shutdown':
    case 'migrated':
      return { domain, type: 'stopped', detail: what };
    case 'start':
      return { domain, type: 'started' };
    case 'reboot':
      return { domain, type: 'rebooted' };
    case 'watchdog':
      return { domain, type: 'watchdog', action: 'reset' };
    case 'io-error':
      return { domain, type: 'io-error', action: 'report', device: 'virtio-disk0', sourcePath: 'vms/a', reason: '' };
    case 'undefined':
      return { domain, type: 'undefined' };
  }
};

const tallyOf = (told: readonly Told[]): GuestTally =>
  told.reduce<GuestTally>(
    (tally, [guest, what, atMs = 0]) =>
      what === 'found-down'
        ? takeGuestDown(tally, vm(guest), limits, atMs)
        : takeGuestEvent(tally, eventOf(guest, what), limits, atMs).tally,
    emptyTally,
  );

const three: Told[] = [
  [2, 'io-error'],
  [2, 'io-error'],
  [2, 'io-error'],
];
const rows: [what: string, told: Told[], observed: string | null][] = [
  ['nothing', [], null],
  ['one guest crashed: it may be its own fault', [[1, 'crash']], null],
  [
    'one guest crashes again and again: so may be its owner’s doing',
    [
      [1, 'crash'],
      [1, 'start'],
      [1, 'crash'],
      [1, 'start'],
      [1, 'crash'],
    ],
    null,
  ],
  [
    'two guests crashed',
    [
      [1, 'crash'],
      [2, 'crash'],
    ],
    '2 guests failed within 10 min: vm-1 (stopped unasked, and does not run), vm-2 (stopped unasked, and does not run)',
  ],
  [
    'two guests’ QEMU ended',
    [
      [1, 'failed'],
      [2, 'failed'],
    ],
    'vm-2 (stopped unasked',
  ],
  [
    'two crashed, and one runs again',
    [
      [1, 'crash'],
      [2, 'crash'],
      [2, 'start'],
    ],
    null,
  ],
  [
    'two crashed, and one was taken away',
    [
      [1, 'crash'],
      [2, 'crash'],
      [2, 'undefined'],
    ],
    null,
  ],
  [
    'two crashed, and one is elsewhere',
    [
      [1, 'crash'],
      [2, 'crash'],
      [2, 'migrated'],
    ],
    null,
  ],
  [
    'one is down, another crashed twice and runs',
    [
      [1, 'crash'],
      [2, 'crash'],
      [2, 'start'],
      [2, 'failed'],
      [2, 'start'],
    ],
    'vm-2 (crashed 2 times)',
  ],
  [
    'a crash that is told twice is one',
    [
      [1, 'crash'],
      [2, 'crash'],
      [2, 'failed'],
      [2, 'start'],
    ],
    null,
  ],
  [
    'two shut down: whose wish that was is not known yet',
    [
      [1, 'shutdown'],
      [2, 'shutdown'],
    ],
    null,
  ],
  [
    'two reboots',
    [
      [1, 'reboot'],
      [2, 'reboot'],
    ],
    null,
  ],
  [
    'two that Nova wants to run were found down',
    [
      [1, 'found-down'],
      [2, 'found-down'],
    ],
    'vm-1 (stopped unasked',
  ],
  [
    'one was found down twice',
    [
      [1, 'found-down'],
      [1, 'found-down'],
    ],
    null,
  ],
  [
    'a watchdog of each of two: they were restarted',
    [
      [1, 'watchdog'],
      [2, 'watchdog'],
    ],
    null,
  ],
  [
    'one is down, another’s watchdog fired again after the restart',
    [
      [1, 'crash'],
      [2, 'watchdog'],
      [2, 'watchdog'],
    ],
    'vm-2 (its watchdog fired 2 times)',
  ],
  [
    'one is down, another has two I/O errors',
    [
      [1, 'crash'],
      [2, 'io-error'],
      [2, 'io-error'],
    ],
    null,
  ],
  ['one is down, another’s I/O errors persist', [[1, 'crash'], ...three], 'vm-2 (3 I/O errors)'],
  ['I/O errors of one guest alone', three, null],
  [
    'two crashed, one of them before the window',
    [
      [1, 'crash', -600_000],
      [2, 'crash'],
    ],
    null,
  ],
  [
    'two crashed within the window',
    [
      [1, 'crash', -599_999],
      [2, 'crash'],
    ],
    '2 guests failed',
  ],
];
test.each(rows)('%s', (_, told, observed) => {
  const judged = judgeGuests(tallyOf(told), limits, 0);
  if (observed === null) expect(judged).toBeNull();
  else expect(judged).toContain(observed);
});

test('of many guests some are named, and all are counted', () => {
  const all = Array.from({ length: 8 }, (_, index): Told => [index, 'crash']);
  expect(judgeGuests(tallyOf(all), limits, 0)).toMatch(
    /^8 guests failed .*vm-4 \(stopped unasked, and does not run\) and 3 more$/u,
  );
});

test('what is over leaves nothing behind', () => {
  expect(
    tallyOf([
      [1, 'watchdog', -600_000],
      [2, 'start'],
    ]).size,
  ).toBe(0);
  expect(
    tallyOf([
      [1, 'migrated'],
      [2, 'shutdown'],
    ]).size,
  ).toBe(0);
});

test('an event’s verdict depends on what the same guest had before', () => {
  const verdicts = (told: Told[], guest: number, what: 'watchdog' | 'io-error') =>
    takeGuestEvent(tallyOf(told), eventOf(guest, what), limits, 0).verdict;
  expect([
    verdicts([], 1, 'watchdog'),
    verdicts([[1, 'watchdog']], 1, 'watchdog'),
    verdicts([[2, 'watchdog']], 1, 'watchdog'),
  ]).toEqual(['restart', 'migrate', 'restart']);
  expect([
    verdicts([], 2, 'io-error'),
    verdicts(three.slice(1), 2, 'io-error'),
    verdicts(
      [
        [2, 'io-error', -600_000],
        [2, 'io-error', -600_000],
      ],
      2,
      'io-error',
    ),
  ]).toEqual(['notify', 'migrate', 'notify']);
});
