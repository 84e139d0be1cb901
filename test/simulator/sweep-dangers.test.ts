import { type Danger, dangers } from './sweep-dangers.ts';
import { inSweepWorld } from './sweep-world.ts';

/** The VMs and servers that are there in the end. */
const endOf = ({ options, happen }: Danger, gatesOff: object = {}): Promise<string[]> =>
  inSweepWorld({ ...options, sweep: { ...options?.sweep, ...gatesOff } }, async (world) => {
    await happen(world);
    return [...(await world.vms()), ...(await world.servers())];
  });

test.each(dangers)(
  '$name: what is needed stays, and an orphan goes',
  async (danger) => {
    const { needed, orphans = [] } = danger;
    const left = await endOf(danger);
    expect(left).toEqual(expect.arrayContaining([...needed]));
    for (const orphan of orphans) expect(left).not.toContain(orphan);
  },
  60_000,
);

const gated = dangers.flatMap((danger) => (danger.gatesOff === null ? [] : [{ ...danger, gatesOff: danger.gatesOff }]));

test.each(gated)(
  '$name: without $gatesOff something is deleted that is needed',
  async ({ gatesOff, ...danger }) => {
    expect(await endOf({ ...danger, gatesOff }, gatesOff)).not.toEqual(expect.arrayContaining([...danger.needed]));
  },
  60_000,
);
