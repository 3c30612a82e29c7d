// A short run of `npm run test:long -- --only cluster`: three servers behind nginx lose one of them, connections and the
// database, and nothing that was confirmed.
import { expect, it } from 'vitest';
import { missingForCluster } from '../helpers/cluster.ts';
import { FAULTS } from '../long/cluster/faults.ts';
import { runSite } from '../long/cluster/run.ts';

const SHORT = ['kill', 'terminate all connections', 'restart PostgreSQL immediately'];
const missing = missingForCluster();
const why = missing.length === 0 ? '' : ` (skipped: not installed: ${missing.join(', ')})`;

it.skipIf(missing.length > 0)(
  `loses, doubles and oversells nothing while parts of it fail${why}`,
  async () => {
    const notes: string[] = [];
    const { failures, timeline } = await runSite({
      seed: 1,
      faultEveryMs: 2000,
      writers: 2,
      webhookTimeoutSeconds: 3,
      faults: FAULTS.filter(({ name }) => SHORT.includes(name)),
      isOver: (done) => done === SHORT.length,
      note: (line) => notes.push(line),
    });
    expect(failures, notes.join('\n')).toEqual([]);
    expect(timeline.faults.map(({ name }) => name).toSorted()).toEqual(SHORT.toSorted());
  },
);
