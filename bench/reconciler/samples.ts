/** What the reconciler writes of one event that an operation explains, for whoever writes the like. */
import type { Db } from 'mongodb'

export const COLLECTIONS = ['subjects', 'actions', 'inbox', 'inbox_bodies'] as const

/** A document of one of them; the fields of a subject that an event changes, by name. */
export interface Sample {
  _id: string
  refs?: readonly string[]
  actions?: readonly object[]
  version?: number
}

export type Samples = Readonly<Record<(typeof COLLECTIONS)[number], Sample>>

/** @param db in which the reconciler has judged something */
export async function sampleDocuments(db: Db): Promise<Samples> {
  const ofExplained = { 'operations.0': { $exists: true }, 'actions.0': { $exists: true } }
  const documents = await Promise.all(
    COLLECTIONS.map(async name => {
      const sample = await db.collection<Sample>(name).findOne(name === 'subjects' ? ofExplained : {})
      if (sample === null) throw new Error(`There is no document in ${name} to take as a sample`)
      return [name, sample] as const
    }),
  )
  return Object.fromEntries(documents) as Samples
}

/** The same under another id, with as many references. */
export function copyFor(key: string, sample: Sample): Sample {
  const copy = { ...sample, _id: key }
  return sample.refs === undefined ? copy : { ...copy, refs: sample.refs.map((_, index) => `${key}/${index}`) }
}

/** The subject as it was before the event: with its operation, and nothing seen of it yet. */
export function subjectBefore(key: string, sample: Sample): Sample {
  const copy = copyFor(key, sample)
  return { ...copy, refs: copy.refs?.slice(0, 2) ?? [], actions: [], version: 1 }
}
