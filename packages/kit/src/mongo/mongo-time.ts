import { asUnavailable, type Mongo } from './mongo.ts'

/**
 * Reads the clock of MongoDB's primary, in milliseconds since the epoch. `hello` answers in well under a millisecond, needs no
 * permission and takes no lock.
 */
export async function readMongoTime({ db }: Pick<Mongo, 'db'>): Promise<number> {
  const { localTime } = await asUnavailable(() => db.command({ hello: 1 }, { readPreference: 'primary' }))
  if (!(localTime instanceof Date)) throw new Error('MongoDB answered hello without its localTime')
  return localTime.getTime()
}
