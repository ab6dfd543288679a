/** Documents that the reconciler wrote for one explained event, as samples for the bare loop. */
import type { Db } from 'mongodb'

export const COLLECTIONS = ['subjects', 'actions', 'inbox', 'inbox_bodies'] as const

/** One document of each collection, and the fields of a case that an event changes. */
export interface Sample {
  _id: string
  current?: readonly [{ readonly version: number; readonly refs: readonly string[]; readonly state: string }]
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

/** The case before the event, with its operation and without an action. */
export function caseBefore(key: string, sample: Sample): Sample {
  const [stored] = copyFor(key, sample).current!
  const state = JSON.stringify({ ...JSON.parse(stored.state), actions: [] })
  return { _id: key, current: [{ ...stored, version: 1, refs: stored.refs.slice(0, 2), state }] }
}
