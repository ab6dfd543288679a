import { type AnyBulkWriteOperation, type BulkWriteResult, type Document, type Filter, MongoServerError } from 'mongodb'
import { SimulatedChangeStream } from './change-stream.ts'
import type { Connection } from './connection.ts'
import { SimulatedCursor } from './cursor.ts'
import { brokenConnection, bulkError, steppedDown, transientInTransaction, writeConflict } from './errors.ts'
import { aggregate, project } from './expressions.ts'
import { matcherOf } from './filter.ts'
import { DirectView, RolledBack, type View } from './server.ts'
import type { SimulatedSession } from './session.ts'
import type { StoredCollection } from './stored-collection.ts'
import { WriteConflict } from './transaction-view.ts'
import { copy, keyOf, valuesAt } from './values.ts'
import { bulkOne, insert, remove, update, type WriteEffect, type WriteOptions } from './writes.ts'

interface Options extends WriteOptions {
  readonly session?: SimulatedSession | undefined
  readonly ordered?: boolean
  readonly projection?: Document
  readonly returnDocument?: 'before' | 'after'
  readonly limit?: number
}

/** The methods of the driver's Collection that the product uses, over a simulated server. */
export class SimulatedCollection {
  readonly collectionName: string
  readonly #connection: Connection
  readonly #stored: StoredCollection

  constructor(connection: Connection, name: string) {
    this.collectionName = name
    this.#connection = connection
    this.#stored = connection.server.collection(name)
  }

  find(filter: Filter<Document> = {}, options: Options & Document = {}): SimulatedCursor {
    const read = () =>
      this.#read('find', options, view => view.readable(this.#stored, filter).filter(matcherOf(filter)))
    return new SimulatedCursor(read, filter, options)
  }

  async findOne(filter: Filter<Document> = {}, options: Options & Document = {}): Promise<Document | null> {
    return (await this.find(filter, options).limit(1).toArray())[0] ?? null
  }

  aggregate(pipeline: Document[], options: Options = {}): SimulatedCursor {
    const first = pipeline[0]?.$match as Filter<Document> | undefined
    const read = () =>
      this.#read('aggregate', options, view => {
        const collectionResolver = (name: string) => view.readable(this.#connection.server.collection(name), {})
        const input = view.readable(this.#stored, first ?? {})
        return aggregate(input.map(copy), pipeline, collectionResolver)
      })
    return new SimulatedCursor(read, {}, {})
  }

  async countDocuments(filter: Filter<Document> = {}, options: Options = {}): Promise<number> {
    const found = await this.#read('count', options, view =>
      view.readable(this.#stored, filter).filter(matcherOf(filter)),
    )
    return Math.min(found.length, options.limit ?? found.length)
  }

  async estimatedDocumentCount(): Promise<number> {
    return this.countDocuments()
  }

  async distinct(field: string, filter: Filter<Document> = {}, options: Options = {}): Promise<unknown[]> {
    const matching = await this.#read('distinct', options, view =>
      view.readable(this.#stored, filter).filter(matcherOf(filter)),
    )
    const values = matching.flatMap(document => valuesAt(document, field.split('.')))
    return [...new Map(values.map(value => [keyOf(value), value])).values()].map(copy)
  }

  async insertOne(document: Document, options: Options = {}) {
    const { upsertedId } = await this.#write('insert', options, view => insert(view, this.#stored, document))
    return { acknowledged: true, insertedId: upsertedId }
  }

  async insertMany(documents: readonly Document[], options: Options = {}) {
    const result = await this.bulkWrite(
      documents.map(document => ({ insertOne: { document } })),
      options,
    )
    return { acknowledged: true, insertedCount: result.insertedCount, insertedIds: result.insertedIds }
  }

  async updateOne(filter: Filter<Document>, change: Document | Document[], options: Options = {}) {
    return toUpdateResult(
      await this.#write('update', options, view => update(view, this.#stored, filter, change, options)),
    )
  }

  async updateMany(filter: Filter<Document>, change: Document | Document[], options: Options = {}) {
    return toUpdateResult(
      await this.#write('update', options, view =>
        update(view, this.#stored, filter, change, { ...options, isMany: true }),
      ),
    )
  }

  async replaceOne(filter: Filter<Document>, replacement: Document, options: Options = {}) {
    return toUpdateResult(
      await this.#write('update', options, view => update(view, this.#stored, filter, replacement, options)),
    )
  }

  async findOneAndUpdate(
    filter: Filter<Document>,
    change: Document | Document[],
    options: Options = {},
  ): Promise<Document | null> {
    const effect = await this.#write('findAndModify', options, view =>
      update(view, this.#stored, filter, change, options),
    )
    const document = options.returnDocument === 'after' ? effect.after : effect.before
    return document === undefined ? null : copy(project(document, options.projection))
  }

  async deleteOne(filter: Filter<Document>, options: Options = {}) {
    const { deleted } = await this.#write('delete', options, view => remove(view, this.#stored, filter, false))
    return { acknowledged: true, deletedCount: deleted }
  }

  async deleteMany(filter: Filter<Document>, options: Options = {}) {
    const { deleted } = await this.#write('delete', options, view => remove(view, this.#stored, filter, true))
    return { acknowledged: true, deletedCount: deleted }
  }

  /** Each write of a bulk is a step of its own, as at the real server; a broken connection may come between two. */
  async bulkWrite(
    operations: readonly AnyBulkWriteOperation<Document>[],
    options: Options = {},
  ): Promise<BulkWriteResult> {
    const effects = new Map<number, WriteEffect>()
    const failures: { index: number; error: MongoServerError }[] = []
    await this.#write('bulkWrite', options, view => {
      effects.clear()
      failures.length = 0
      for (const [index, operation] of operations.entries()) {
        try {
          effects.set(index, bulkOne(view, this.#stored, operation))
        } catch (error) {
          if (!(error instanceof MongoServerError)) throw error
          failures.push({ index, error })
          if (options.ordered !== false) break
        }
      }
    })
    const result = toBulkResult(effects)
    if (failures.length > 0) throw bulkError(failures, result)
    return result
  }

  watch(pipeline: Document[] = [], options: Document = {}) {
    return new SimulatedChangeStream(
      this.#connection,
      [{ $match: { 'ns.coll': this.collectionName } }, ...pipeline],
      options,
    )
  }

  async createIndex(): Promise<string> {
    throw new Error('The indexes of the simulated server are fixed')
  }

  #read<T>(name: string, { session }: Options, act: (view: View) => T): Promise<T> {
    return this.#call(name, false, session, view => act(view ?? new DirectView(this.#connection.server)))
  }

  #write<T>(name: string, { session }: Options, act: (view: View) => T): Promise<T> {
    const { server } = this.#connection
    return this.#call(name, true, session, async inTransaction => {
      if (inTransaction !== undefined) return act(inTransaction)
      const view = new DirectView(server)
      try {
        return act(view)
      } finally {
        // A write that changes nothing or is refused waits too, as the real server's: a reader after it sees the write that it lost against.
        await server.untilConfirmed(view.position === 0 ? server.written : view.position)
      }
    })
  }

  async #call<T>(
    name: string,
    isWrite: boolean,
    session: SimulatedSession | undefined,
    act: (view: View | undefined) => T | Promise<T>,
  ): Promise<T> {
    const command = {
      server: 'mongo' as const,
      name: `${this.collectionName}.${name}`,
      isWrite,
      broken: brokenConnection,
    }
    try {
      return await this.#connection.wire.call(command, async () => act(session?.view))
    } catch (error) {
      if (error instanceof WriteConflict) throw writeConflict()
      if (error instanceof RolledBack) throw steppedDown()
      throw session?.view === undefined ? error : transientInTransaction(error)
    }
  }
}

function toUpdateResult({ matched, modified, upsertedId }: WriteEffect) {
  return {
    acknowledged: true,
    matchedCount: matched,
    modifiedCount: modified,
    upsertedCount: upsertedId === undefined ? 0 : 1,
    upsertedId: upsertedId ?? null,
  }
}

function toBulkResult(effects: ReadonlyMap<number, WriteEffect>): BulkWriteResult {
  const all = [...effects.values()]
  const sum = (of: (effect: WriteEffect) => number) => all.reduce((total, effect) => total + of(effect), 0)
  const ids = (wanted: (effect: WriteEffect) => boolean) =>
    Object.fromEntries([...effects].flatMap(([index, effect]) => (wanted(effect) ? [[index, effect.upsertedId]] : [])))
  const upsertedIds = ids(effect => effect.inserted === 0 && effect.upsertedId !== undefined)
  return {
    ok: 1,
    insertedCount: sum(effect => effect.inserted),
    matchedCount: sum(effect => effect.matched),
    modifiedCount: sum(effect => effect.modified),
    deletedCount: sum(effect => effect.deleted),
    upsertedCount: Object.keys(upsertedIds).length,
    upsertedIds,
    insertedIds: ids(effect => effect.inserted === 1),
  } as unknown as BulkWriteResult
}
