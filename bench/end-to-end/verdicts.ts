/** Notes when the verdicts of explained actions are stored. */
import type { Db, Timestamp } from 'mongodb'

export interface StoredVerdict {
  /** The time at which a change stream shows the verdict, in milliseconds since the epoch. */
  readonly seenAtMs: number
  /** The time at which the reconciler first read about the action. */
  readonly firstSeenAtMs: number
}

export interface VerdictWatch {
  /** The explained actions so far, by the provider's id of the refund. */
  readonly explained: ReadonlyMap<string, StoredVerdict>
  /** @throws Error if the change stream failed */
  stop(): Promise<void>
}

interface ShownAction {
  readonly provider_ref: string
  readonly first_seen_at: string
}

/**
 * Watches the actions by a change stream and not by queries, because repeated queries would compete with the reconciler. A change stream
 * shows only what a majority of the members has on its disk, so the times are those of a verdict that cannot be lost.
 * @param since the time of the first change that is watched; now by default
 */
export function watchVerdicts(database: Db, since?: Timestamp): VerdictWatch {
  const stream = database
    .collection('actions')
    .watch<ShownAction>(
      [
        { $match: { 'fullDocument.verdict': 'explained' } },
        { $project: { 'fullDocument.provider_ref': 1, 'fullDocument.first_seen_at': 1, operationType: 1 } },
      ],
      { fullDocument: 'updateLookup', ...(since === undefined ? {} : { startAtOperationTime: since }) },
    )
  const explained = new Map<string, StoredVerdict>()
  let failure: Error | undefined
  stream.on('error', error => {
    failure = error
  })
  stream.on('change', change => {
    const action = 'fullDocument' in change ? (change.fullDocument as ShownAction | undefined) : undefined
    if (action === undefined || explained.has(action.provider_ref)) return
    explained.set(action.provider_ref, { seenAtMs: Date.now(), firstSeenAtMs: Date.parse(action.first_seen_at) })
  })
  return {
    explained,
    async stop() {
      await stream.close()
      if (failure !== undefined) throw failure
    },
  }
}
