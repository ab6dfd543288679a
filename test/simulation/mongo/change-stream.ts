import type { Document } from 'mongodb'
import type { Connection } from './connection.ts'
import { brokenConnection, historyLost } from './errors.ts'
import { aggregate } from './expressions.ts'
import type { OplogEntry } from './server.ts'
import { copy } from './values.ts'

/** The driver's change stream: changes that a majority has, in their order, after a resume token or from now on. */
export class SimulatedChangeStream {
  readonly #connection: Connection
  readonly #pipeline: Document[]
  readonly #waitMs: number
  #position: number | undefined
  #pending: Document[] = []
  #isClosed = false
  #wake = () => {}
  resumeToken: { readonly _data: string } | undefined

  constructor(connection: Connection, pipeline: Document[], { resumeAfter, maxAwaitTimeMS = 1_000 }: Document) {
    this.#connection = connection
    this.#pipeline = pipeline
    this.#waitMs = maxAwaitTimeMS
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
    const read = () => {
      this.#position ??= server.confirmed
      const entries = server.entriesAfter(this.#position)
      if (entries === undefined) throw historyLost()
      this.#position = Math.max(this.#position, server.confirmed)
      this.resumeToken = tokenOf(this.#position)
      return aggregate(entries.map(toEvent), this.#pipeline)
    }
    const command = { server: 'mongo' as const, name: 'getMore', isWrite: false, broken: brokenConnection }
    this.#pending = await wire.call(command, read)
    if (this.#pending.length > 0 || isFirst || this.#isClosed) return
    await wire.wait(this.#waitMs, wake => {
      this.#wake = wake
      // The server answers when it sees a change that the pipeline lets through, or when the time is over.
      return server.follow(() => {
        const entries = server.entriesAfter(this.#position ?? 0)
        if (entries === undefined || aggregate(entries.map(toEvent), this.#pipeline).length > 0) wake()
      })
    })
    if (this.#isClosed) throw new Error('ChangeStream is closed')
    this.#pending = await wire.call(command, read)
  }
}

/** The form of the real server's tokens: hexadecimal text whose order is that of the changes. */
function tokenOf(position: number): { readonly _data: string } {
  return { _data: `82${position.toString(16).toUpperCase().padStart(24, '0')}` }
}

function positionOf(token: string): number {
  return Number.parseInt(token.slice(2), 16)
}

function toEvent({ position, collection, before, after }: OplogEntry): Document {
  const event = {
    _id: tokenOf(position),
    ns: { db: 'simulation', coll: collection.name },
    documentKey: { _id: (after ?? before)?._id },
  }
  if (after === undefined) return { ...event, operationType: 'delete' }
  return { ...event, operationType: before === undefined ? 'insert' : 'update', fullDocument: copy(after) }
}
