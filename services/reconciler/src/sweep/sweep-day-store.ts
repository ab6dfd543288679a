import type { SweepDayDocument } from '@backstop/contracts'
import { asUnavailable, type Mongo } from '@backstop/kit/mongo'
import { countedDayId, dayOf } from '@backstop/verdict'
import type { SweepRun } from './rules/sweep-day.ts'

/** The record of the sweeps by connection and day. */
export interface SweepDayStore {
  /** Adds a run to the record of the day when it ended. */
  add(run: SweepRun): Promise<void>
}

/** The record of the sweeps, collection `sweep_days`. */
export function createMongoSweepDays(mongo: Mongo): SweepDayStore {
  const days = mongo.db.collection<SweepDayDocument>('sweep_days')
  return {
    add: ({ connectionId, projectId, recordedFrom, endedAt, objects, readUntil, interruption }) =>
      asUnavailable(async () => {
        const day = dayOf(endedAt.getTime())
        await days.updateOne(
          { _id: countedDayId({ connectionId, day }) },
          {
            $setOnInsert: { project_id: projectId, connection_id: connectionId, day: new Date(day) },
            $min: { recorded_from: recordedFrom },
            $inc: { completed: readUntil === null ? 0 : 1, objects },
            $push: { interruptions: { $each: interruption === null ? [] : [interruption] } },
            ...(readUntil === null ? {} : { $max: { read_until: readUntil } }),
          },
          { upsert: true },
        )
      }),
  }
}
