// Two flow files run side by side, each on a lab of its own: DROVER_LABS names one for each of jest's workers, in their order.
const labs = process.env.DROVER_LABS?.split(',');
if (labs !== undefined) process.env.DROVER_LAB = labs[(Number(process.env.JEST_WORKER_ID ?? 1) - 1) % labs.length];
