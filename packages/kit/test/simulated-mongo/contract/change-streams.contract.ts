import { type ChangeStream, type Document, MongoServerError } from 'mongodb'
import { describe, expect, test } from 'vitest'
import { type ContractSubject, errorOf } from './test-database.ts'

const PIPELINE = [
  { $match: { operationType: { $in: ['insert', 'update', 'replace'] }, 'ns.coll': { $in: ['things', 'cases'] } } },
  { $project: { ns: 1, documentKey: 1, operationType: 1 } },
]

/** Change streams as the driver gives them. */
export function describeChangeStreams({ database, of }: ContractSubject): void {
  describe('change streams', () => {
    const openStream = async (pipeline: Document[] = [], after?: unknown) => {
      const resume = after === undefined ? {} : { resumeAfter: after }
      const stream = database().mongo.db.watch(pipeline, { ...resume, maxAwaitTimeMS: 100 }) as ChangeStream<
        Document,
        Document & { operationType: string }
      >
      return stream
    }
    /** The next changes, for at most some seconds. */
    const read = async (stream: ChangeStream<Document, Document & { operationType: string }>, count: number) => {
      const changes: Document[] = []
      for (let turn = 0; turn < 50 && changes.length < count; turn += 1) {
        const change = (await stream.tryNext()) as Document | null
        if (change !== null) changes.push(change)
      }
      return changes
    }
    const briefly = (changes: Document[]) =>
      changes.map(({ operationType, ns, documentKey }) => `${operationType} ${ns.coll}/${documentKey._id}`)

    test('gives each change once, in order, from its begin on', async () => {
      await of('things').insertOne({ _id: 'before' })
      const stream = await openStream(PIPELINE)
      expect(await stream.tryNext()).toBeNull()
      await of('things').insertOne({ _id: 'a' })
      await of('things').updateOne({ _id: 'a' }, { $set: { n: 1 } })
      await of('things').updateOne({ _id: 'a' }, { $set: { n: 1 } })
      await of('unique').insertOne({ _id: 'other' })
      // The server may store a pipeline's change of a small document as a replacement.
      await of('things').replaceOne({ _id: 'a' }, { n: 2, text: 'x'.repeat(200) })
      await of('things').replaceOne({ _id: 'b' }, { n: 2 }, { upsert: true })
      await of('things').updateOne({ _id: 'a' }, [{ $set: { n: 3 } }])
      await of('things').deleteOne({ _id: 'a' })
      await of('cases').insertOne({ _id: 'c' })
      const changes = await read(stream, 6)
      expect(briefly(changes)).toEqual([
        'insert things/a',
        'update things/a',
        'replace things/a',
        'insert things/b',
        'update things/a',
        'insert cases/c',
      ])
      expect(Object.keys(changes[0]!).sort()).toEqual(['_id', 'documentKey', 'ns', 'operationType'])
      const tokens = changes.map(({ _id }) => _id._data as string)
      expect(tokens).toEqual([...new Set(tokens)].sort())
      expect(stream.resumeToken).toEqual(changes.at(-1)!._id)
      await stream.close()
    })

    test('resumes after a change, and after a time without one', async () => {
      const stream = await openStream(PIPELINE)
      await stream.tryNext()
      await of('things').insertMany(['a', 'b', 'c'].map(_id => ({ _id })))
      const [first] = await read(stream, 3)
      await stream.close()
      const resumed = await openStream(PIPELINE, first!._id)
      expect(briefly(await read(resumed, 2))).toEqual(['insert things/b', 'insert things/c'])
      await of('unique').insertOne({ _id: 'other' })
      const before = resumed.resumeToken as { _data: string }
      for (let turn = 0; turn < 50 && (resumed.resumeToken as { _data: string })._data === before._data; turn += 1)
        await resumed.tryNext()
      const position = resumed.resumeToken as { _data: string }
      expect(position._data > before._data).toBe(true)
      expect(position._data).toMatch(/^82[\dA-F]{16,1000}$/)
      await resumed.close()
      await of('things').insertOne({ _id: 'd' })
      const again = await openStream(PIPELINE, position)
      expect(briefly(await read(again, 1))).toEqual(['insert things/d'])
      await again.close()
    })

    test('gives the writes of a transaction when it is committed', async () => {
      const stream = await openStream(PIPELINE)
      await stream.tryNext()
      await database().mongo.client.withSession(session =>
        session.withTransaction(async () => {
          await of('things').insertOne({ _id: 'a' }, { session })
          await of('cases').insertOne({ _id: 'b' }, { session })
          expect(await stream.tryNext()).toBeNull()
        }),
      )
      expect(briefly(await read(stream, 2))).toEqual(['insert things/a', 'insert cases/b'])
      await stream.close()
    })

    test('has the document of an insert or a replacement only', async () => {
      const stream = await openStream()
      await stream.tryNext()
      await of('things').insertOne({ _id: 'a', n: 1 })
      await of('things').updateOne({ _id: 'a' }, { $set: { n: 2 } })
      await of('things').replaceOne({ _id: 'a' }, { n: 3 })
      await of('things').deleteOne({ _id: 'a' })
      const changes = await read(stream, 4)
      expect(changes.map(({ operationType, fullDocument }) => ({ operationType, fullDocument }))).toEqual([
        { operationType: 'insert', fullDocument: { _id: 'a', n: 1 } },
        { operationType: 'update' },
        { operationType: 'replace', fullDocument: { _id: 'a', n: 3 } },
        { operationType: 'delete' },
      ])
      await stream.close()
    })

    test('looks up the newest document of an update if it is asked to, which is null if it is deleted', async () => {
      const stream = of('things').watch([], { fullDocument: 'updateLookup', maxAwaitTimeMS: 100 }) as ChangeStream<
        Document,
        Document & { operationType: string }
      >
      await stream.tryNext()
      await of('things').insertMany([{ _id: 'a', n: 1 }, { _id: 'b' }])
      await of('things').updateOne({ _id: 'a' }, { $set: { n: 2 } })
      await of('things').updateOne({ _id: 'a' }, { $set: { n: 3 } })
      await of('things').updateOne({ _id: 'b' }, { $set: { n: 2 } })
      await of('things').deleteOne({ _id: 'b' })
      const changes = await read(stream, 6)
      expect(changes.map(({ operationType, fullDocument }) => ({ operationType, fullDocument }))).toEqual([
        { operationType: 'insert', fullDocument: { _id: 'a', n: 1 } },
        { operationType: 'insert', fullDocument: { _id: 'b' } },
        { operationType: 'update', fullDocument: { _id: 'a', n: 3 } },
        { operationType: 'update', fullDocument: { _id: 'a', n: 3 } },
        { operationType: 'update', fullDocument: null },
        { operationType: 'delete' },
      ])
      await stream.close()
    })

    test('does not resume where the history is lost', async () => {
      const stream = await openStream(PIPELINE, { _data: await database().positionTooOld() })
      const error = (await errorOf(read(stream, 1))) as MongoServerError
      expect(error).toBeInstanceOf(MongoServerError)
      // ChangeStreamFatalError if the change is unknown, ChangeStreamHistoryLost if the oplog begins later.
      expect([280, 286]).toContain(error.code)
      // Otherwise the driver would open the stream again by itself.
      expect(error.hasErrorLabel('ResumableChangeStreamError')).toBe(false)
      await stream.close()
    })

    test('closing it ends a read that waits', async () => {
      const stream = database().mongo.db.watch(PIPELINE, { maxAwaitTimeMS: 60_000 })
      await database().mongo.ping()
      const waiting = stream.tryNext().then(
        () => 'ended',
        () => 'ended',
      )
      await stream.close()
      expect(await waiting).toBe('ended')
    })
  })
}
