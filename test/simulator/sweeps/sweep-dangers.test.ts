import { type Danger, dangers } from './sweep-dangers.ts';
import { inSweepWorld } from './sweep-world.ts';

/** The VMs and servers that are there in the end, and the invariants that do not hold. */
const endOf = ({ options, happen }: Danger, gatesOff: object = {}): Promise<{ left: string[]; violated: string[] }> =>
  inSweepWorld({ ...options, sweep: { ...options?.sweep, ...gatesOff } }, async (world) => {
    await happen(world);
    return { left: [...(await world.vms()), ...(await world.servers())], violated: await world.violations() };
  });

test.each(dangers)(
  '$name: what is needed stays, and an orphan goes',
  async (danger) => {
    const { needed, orphans = [] } = danger;
    const { left, violated } = await endOf(danger);
    expect(left).toEqual(expect.arrayContaining([...needed]));
    for (const orphan of orphans) expect(left).not.toContain(orphan);
    expect(violated).toEqual([]);
  },
  1_800_000,
);

const gated = dangers.flatMap((danger) => (danger.gatesOff === null ? [] : [{ ...danger, gatesOff: danger.gatesOff }]));

test.each(gated)(
  '$name: without $gatesOff something is deleted that is needed',
  async ({ gatesOff, ...danger }) => {
    const { left } = await endOf({ ...danger, gatesOff }, gatesOff);
    expect(left).not.toEqual(expect.arrayContaining([...danger.needed]));
  },
  1_800_000,
);
