import { MongoError, MongoErrorLabel } from 'mongodb'
import type { Connection } from './connection.ts'
import { brokenConnection, writeConflict } from './errors.ts'
import { RolledBack } from './server.ts'
import { TransactionView, WriteConflict } from './transaction-view.ts'

/** How long the driver repeats a transaction, in milliseconds. */
const LONGEST_MS = 120_000

/** The driver's session: transactions that run again while the server asks for it. */
export class SimulatedSession {
  readonly #connection: Connection
  view: TransactionView | undefined
  #isAborted = false

  constructor(connection: Connection) {
    this.#connection = connection
  }

  async withTransaction<T>(
    act: (session: SimulatedSession) => Promise<T>,
    { timeoutMS = LONGEST_MS }: { readonly timeoutMS?: number } = {},
  ): Promise<T> {
    const endsAt = this.#connection.wire.now() + timeoutMS
    for (;;) {
      this.view = new TransactionView(this.#connection.server)
      this.#isAborted = false
      try {
        const result = await act(this)
        if (!this.#isAborted) await this.#commit(endsAt)
        return result
      } catch (error) {
        const canRepeat = error instanceof MongoError && error.hasErrorLabel(MongoErrorLabel.TransientTransactionError)
        if (!canRepeat || this.#connection.wire.now() >= endsAt) throw error
      } finally {
        this.view = undefined
      }
    }
  }

  async abortTransaction(): Promise<void> {
    this.#isAborted = true
  }

  async endSession(): Promise<void> {
    this.view = undefined
  }

  /** The driver repeats a commit whose answer was lost; the server carries it out once. */
  async #commit(endsAt: number): Promise<void> {
    const { wire, server } = this.#connection
    const view = this.view!
    let committed: Promise<void> | undefined
    const commit = () => {
      committed ??= (async () => server.untilConfirmed(view.commit()))()
      return committed
    }
    const command = { server: 'mongo' as const, name: 'commitTransaction', isWrite: true, broken: brokenConnection }
    for (;;) {
      try {
        return await wire.call(command, commit)
      } catch (error) {
        if (error instanceof WriteConflict || error instanceof RolledBack) throw writeConflict()
        if (wire.now() >= endsAt) throw error
      }
    }
  }
}
