import { MongoServerError } from 'mongodb'
import { expect, test } from 'vitest'
import { asUnavailable } from './mongo.ts'

const refused = (errmsg: string, code = 13) =>
  asUnavailable(() => Promise.reject(new MongoServerError({ errmsg, code })))

test.each([
  {
    errmsg: 'not authorized on backstop to execute command { update: "incidents", updates: [ { q: {} } ] }',
    said: 'run update on incidents',
  },
  {
    errmsg:
      'not authorized on admin to execute command { bulkWrite: 1, ops: [], nsInfo: [ { ns: "backstop.actions" } ] }',
    said: 'run bulkWrite on backstop.actions',
  },
  { errmsg: 'not authorized', said: 'run a command on the database' },
])('a missing right is said as such, and the work is tried again: $said', async ({ errmsg, said }) => {
  await expect(refused(errmsg)).rejects.toMatchObject({
    code: 'unavailable',
    retryable: true,
    message: `MongoDB does not let the user of MONGO_URL ${said}: give it this right (docs/rights.md)`,
  })
})

test('another refusal of the server is an outage', async () => {
  await expect(refused('not primary', 10107)).rejects.toMatchObject({ message: 'MongoDB is unavailable' })
})
