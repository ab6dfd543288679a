import type { IncidentOutcomeDocument } from '@backstop/contracts'
import { asUnavailable, type Mongo, writeIgnoringDuplicates } from '@backstop/kit/mongo'

/** The outcomes of commands that change incidents. */
export interface IncidentOutcomeStore {
  /** The stored outcomes of these commands, in no order. */
  byCommands(commandIds: readonly string[]): Promise<readonly IncidentOutcomeDocument[]>
  /** Stores the outcomes; existing ones are kept. */
  insert(outcomes: readonly IncidentOutcomeDocument[]): Promise<void>
}

/** The outcomes of commands that change incidents, collection `incident_outcomes`. */
export function createMongoIncidentOutcomes(mongo: Mongo): IncidentOutcomeStore {
  const collection = mongo.db.collection<IncidentOutcomeDocument>('incident_outcomes')
  return {
    byCommands: ids => asUnavailable(() => collection.find({ _id: { $in: [...ids] } }).toArray()),
    insert: outcomes =>
      asUnavailable(async () => {
        const insert = () => collection.insertMany([...outcomes], { ordered: false })
        if (outcomes.length > 0) await writeIgnoringDuplicates(insert, outcomes.length)
      }),
  }
}
