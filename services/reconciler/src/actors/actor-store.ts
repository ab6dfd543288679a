import { type ActorDocument, type ActorSecretDocument, newId } from '@backstop/contracts'
import { asUnavailable, type Mongo } from '@backstop/kit/mongo'

/** What the actors of projects are known by. All methods throw AppError `unavailable` if the database is unavailable. */
export interface ActorStore {
  /** The secret of each project. It is made at its first use, and never changes. */
  secretsOf(projectIds: readonly string[]): Promise<ReadonlyMap<string, string>>
  /** What people said about actors, as far as it was changed at this time or later; everything if it is null. */
  changedSince(since: Date | null): Promise<readonly ActorDocument[]>
}

/** The secrets of projects (`actor_secrets`), and the collection `actors`, which admin-api writes. */
export function createMongoActors(mongo: Mongo): ActorStore {
  const secrets = mongo.db.collection<ActorSecretDocument>('actor_secrets')
  const actors = mongo.db.collection<ActorDocument>('actors')
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
    changedSince: since =>
      asUnavailable(() => actors.find(since === null ? {} : { updated_at: { $gte: since } }).toArray()),
  }
}
