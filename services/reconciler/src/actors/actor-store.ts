import { type ActorSecretDocument, newId } from '@backstop/contracts'
import { asUnavailable, type Mongo } from '@backstop/kit/mongo'

/** What the ids of actors are derived from. All methods throw AppError `unavailable` if the database is unavailable. */
export interface ActorStore {
  /** The secret of each project. It is made at its first use, and never changes. */
  secretsOf(projectIds: readonly string[]): Promise<ReadonlyMap<string, string>>
}

/** The secrets of projects, collection `actor_secrets`. */
export function createMongoActors(mongo: Mongo): ActorStore {
  const secrets = mongo.db.collection<ActorSecretDocument>('actor_secrets')
  return {
    secretsOf: projectIds =>
      asUnavailable(async () => {
        // Two processes may be the first at the same time: both read what one of them stored.
        const made = projectIds.map(_id => ({
          updateOne: { filter: { _id }, update: { $setOnInsert: { secret: newId('actorSecret') } }, upsert: true },
        }))
        await secrets.bulkWrite(made, { ordered: false })
        const found = await secrets.find({ _id: { $in: [...projectIds] } }).toArray()
        return new Map(found.map(({ _id, secret }) => [_id, secret]))
      }),
  }
}
