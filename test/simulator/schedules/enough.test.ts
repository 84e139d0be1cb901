import { judgeAmount } from './enough.ts';
import { type EventKind, eventKinds } from './schedule.ts';

const everyKind = new Map(eventKinds.map((kind) => [kind, 1] as const));
const allBut = (...kinds: EventKind[]) => new Map([...everyKind].filter(([kind]) => !kinds.includes(kind)));

test.each<
  [
    what: string,
    minutes: number,
    did: Parameters<typeof judgeAmount>[1],
    expected: Partial<ReturnType<typeof judgeAmount>>,
  ]
>([
  ['enough of all', 60, { schedules: 600, happened: everyKind }, { missing: 0, missingKinds: [], complaints: [] }],
  [
    'an hour beside other stages, as it was measured by the clock',
    60,
    { schedules: 123, happened: everyKind },
    { missing: 477, complaints: ['123 schedules in 60 minutes of a processor; at least 600 have to be'] },
  ],
  [
    'what happened in none',
    60,
    { schedules: 600, happened: new Map([...allBut('evict', 'onboard'), ['onboard', 0]]) },
    { missingKinds: ['evict', 'onboard'], complaints: ['never happened in any schedule: evict, onboard'] },
  ],
  ['a push, in which rare things may not happen', 1, { schedules: 10, happened: allBut('evict') }, { complaints: [] }],
  ['a push that shows too little', 1, { schedules: 9, happened: everyKind }, { least: 10, missing: 1 }],
])('%s', (_, minutes, did, expected) => expect(judgeAmount(minutes, did)).toMatchObject(expected));
