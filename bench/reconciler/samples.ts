/** Documents that the reconciler wrote for one explained event, as samples for the bare loop. */
import type { Db } from 'mongodb'

export const COLLECTIONS = ['subjects', 'actions', 'inbox', 'inbox_bodies'] as const

/** One document of each collection, and the references of a case, which are unique. */
export interface Sample {
  _id: string
  current?: readonly [{ readonly refs: readonly string[] }]
}

export type Samples = Readonly<Record<(typeof COLLECTIONS)[number], Sample>>

/** @param db a database in which the reconciler has judged events */
export async function sampleDocuments(db: Db): Promise<Samples> {
  const ofExplained = { 'current.state': /"verdict":"explained"/ }
  const documents = await Promise.all(
    COLLECTIONS.map(async name => {
      const sample = await db.collection<Sample>(name).findOne(name === 'subjects' ? ofExplained : {})
      if (sample === null) throw new Error(`There is no document in ${name} to take as a sample`)
      return [name, sample] as const
    }),
  )
  return Object.fromEntries(documents) as Samples
}

/** Copies the document with another id and the same number of references. */
export function copyFor(key: string, sample: Sample): Sample {
  const copy = { ...sample, _id: key }
  if (sample.current === undefined) return copy
  const [stored] = sample.current
  return { ...copy, current: [{ ...stored, refs: stored.refs.map((_, index) => `${key}/${index}`) }] }
}
