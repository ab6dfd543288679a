import type { Document } from 'mongodb'
import type { Connection } from './connection.ts'
import { brokenConnection, historyLost } from './errors.ts'
import { aggregate } from './expressions.ts'
import { matcherOf } from './filter.ts'
import type { OplogEntry } from './server.ts'
import { copy } from './values.ts'

/** The driver's change stream: changes that a majority has, in their order, after a resume token or from now on. */
export class SimulatedChangeStream {
  readonly #connection: Connection
  /** The conditions at the beginning of the pipeline, and its other stages. */
  readonly #first: readonly ((event: Document) => boolean)[]
  readonly #pipeline: Document[]
  readonly #waitMs: number
  readonly #looksUp: boolean
  #position: number | undefined
  #pending: Document[] = []
  #isClosed = false
  #wake = () => {}
  resumeToken: { readonly _data: string } | undefined

  constructor(connection: Connection, pipeline: Document[], options: Document) {
    const { resumeAfter, maxAwaitTimeMS = 1_000, fullDocument } = options
    this.#connection = connection
    const others = pipeline.findIndex(stage => stage.$match === undefined)
    const count = others === -1 ? pipeline.length : others
    this.#first = pipeline.slice(0, count).map(stage => matcherOf(stage.$match))
    this.#pipeline = pipeline.slice(count)
    this.#waitMs = maxAwaitTimeMS
    this.#looksUp = fullDocument === 'updateLookup'
    if (resumeAfter !== undefined) this.#position = positionOf(resumeAfter._data)
  }

  async tryNext(): Promise<Document | null> {
    if (this.#pending.length === 0) await this.#fetch()
    const change = this.#pending.shift() ?? null
    if (change !== null) this.resumeToken = change._id as { _data: string }
    return change
  }

  async close(): Promise<void> {
    this.#isClosed = true
    this.#wake()
  }

  async #fetch(): Promise<void> {
    const { wire, server } = this.#connection
    const isFirst = this.#position === undefined
    const command = { server: 'mongo' as const, name: 'getMore', isWrite: false, broken: brokenConnection }
    this.#pending = await wire.call(command, async () => {
      this.#position ??= server.confirmed
      const found = this.#read()
      if (found.length > 0 || isFirst) return found
      await this.#untilChange()
      return this.#read()
    })
    if (this.#isClosed) throw new Error('ChangeStream is closed')
  }

  #read(): Document[] {
    const { server } = this.#connection
    const events = this.#eventsAfter(this.#position ?? 0)
    if (events === undefined) throw historyLost()
    this.#position = Math.max(this.#position ?? 0, server.confirmed)
    this.resumeToken = tokenOf(this.#position)
    return aggregate(events.map(copy), this.#pipeline)
  }

  /** The server answers when it sees a change that the pipeline lets through, or when the time is over. */
  #untilChange(): Promise<void> {
    const { wire, server } = this.#connection
    let seen = this.#position ?? 0
    return wire.wait(this.#waitMs, wake => {
      this.#wake = wake
      return server.follow(() => {
        const isSeen = this.#eventsAfter(seen)?.length === 0
        seen = server.confirmed
        if (!isSeen) wake()
      })
    })
  }

  /** The changes after a position that pass the first conditions of the pipeline. Undefined if the oplog no longer has them all. */
  #eventsAfter(position: number): Document[] | undefined {
    return this.#connection.server
      .entriesAfter(position)
      ?.map(entry => this.#toEvent(entry))
      .filter(event => this.#first.every(matches => matches(event)))
  }

  #toEvent({ position, collection, id, before, after, isReplacement }: OplogEntry): Document {
    const event = {
      _id: tokenOf(position),
      ns: { db: 'simulation', coll: collection.name },
      documentKey: { _id: (after ?? before)?._id },
    }
    if (after === undefined) return { ...event, operationType: 'delete' }
    if (before === undefined) return { ...event, operationType: 'insert', fullDocument: after }
    if (isReplacement) return { ...event, operationType: 'replace', fullDocument: after }
    const lookedUp = () => ({ fullDocument: this.#connection.server.confirmedDocument(collection, id) ?? null })
    return { ...event, operationType: 'update', ...(this.#looksUp ? lookedUp() : {}) }
  }
}

/** The form of the real server's tokens: hexadecimal text whose order is that of the changes. */
function tokenOf(position: number): { readonly _data: string } {
  return { _data: `82${position.toString(16).toUpperCase().padStart(24, '0')}` }
}

function positionOf(token: string): number {
  return Number.parseInt(token.slice(2), 16)
}
