import type { TimeSource } from '../clock/measured-clock.ts'
import { asUnavailable, type Mongo } from './mongo.ts'

/**
 * The clock of MongoDB's primary. `hello` answers in well under a millisecond, needs no permission and takes no lock.
 */
export function createMongoTime({ db }: Pick<Mongo, 'db'>): TimeSource {
  return {
    async read() {
      const { localTime } = await asUnavailable(() => db.command({ hello: 1 }, { readPreference: 'primary' }))
      if (!(localTime instanceof Date)) throw new Error('MongoDB answered hello without its localTime')
      return localTime.getTime()
    },
  }
}
