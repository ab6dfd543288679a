import { MongoErrorLabel, MongoServerError } from 'mongodb'
import type { Connection } from './connection.ts'
import { brokenConnection, writeConflict } from './errors.ts'
import { RolledBack, TransactionView, WriteConflict } from './server.ts'

/** The driver's session: transactions that run again while the server asks for it. */
export class SimulatedSession {
  readonly #connection: Connection
  view: TransactionView | undefined
  #isAborted = false

  constructor(connection: Connection) {
    this.#connection = connection
  }

  async withTransaction<T>(act: (session: SimulatedSession) => Promise<T>): Promise<T> {
    for (;;) {
      this.view = new TransactionView(this.#connection.server)
      this.#isAborted = false
      try {
        const result = await act(this)
        if (!this.#isAborted) await this.#commit()
        return result
      } catch (error) {
        if (!(error instanceof MongoServerError) || !error.hasErrorLabel(MongoErrorLabel.TransientTransactionError))
          throw error
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

  /** The driver repeats a commit whose answer was lost, so it is known in the end. */
  async #commit(): Promise<void> {
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
        if (committed === undefined) throw error
      }
    }
  }
}
