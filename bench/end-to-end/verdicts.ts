/** Notes when the verdicts of explained actions are stored. */
import type { ChangeStreamDocument, Db, Timestamp } from 'mongodb'

export interface StoredVerdict {
  /** The time at which a change stream shows the verdict, in milliseconds since the epoch. */
  readonly seenAtMs: number
  /** The time at which the reconciler first read about the action. */
  readonly firstSeenAtMs: number
}

export interface VerdictWatch {
  /** The explained actions of the sample so far, by the provider's id of the refund. */
  readonly explained: ReadonlyMap<string, StoredVerdict>
  /** @throws Error if the change stream failed */
  stop(): Promise<void>
}

interface ShownAction {
  readonly _id: string
  readonly provider_ref: string
  readonly first_seen_at: string
  readonly verdict: string
}

/**
 * A fifth of the refunds, because showing every action took up to a quarter of the time of MongoDB. Chosen by the hundreds, because events
 * take turns of a few hundred connections, so each connection has events in the sample.
 */
const IN_SAMPLE = /[27]\d\d$/

/** Whether the verdict of a refund is watched, by its number. */
export function isInSample({ id }: { readonly id: string }): boolean {
  return IN_SAMPLE.test(id)
}

/**
 * Watches the actions by a change stream and not by queries, because repeated queries would compete with the reconciler. A change stream
 * shows only what a majority of the members has on its disk, so the times are those of a verdict that cannot be lost.
 * @param since the time of the first change that is watched; now by default
 */
export function watchVerdicts(database: Db, since?: Timestamp): VerdictWatch {
  const shown = [
    'operationType',
    'documentKey',
    ...['provider_ref', 'first_seen_at', 'verdict'].map(of => `fullDocument.${of}`),
  ]
  // MongoDB applies the filter of inserts to its oplog, which costs little. An update does not name its refund: that is known from its insert.
  const isShown = {
    $or: [
      { operationType: { $in: ['insert', 'replace'] }, 'fullDocument.provider_ref': IN_SAMPLE },
      { operationType: 'update', 'updateDescription.updatedFields.verdict': 'explained' },
    ],
  }
  const stream = database
    .collection<ShownAction>('actions')
    .watch(
      [{ $match: isShown }, { $project: Object.fromEntries(shown.map(field => [field, 1])) }],
      since === undefined ? {} : { startAtOperationTime: since },
    )
  const actions = new Map<string, Pick<ShownAction, 'provider_ref' | 'first_seen_at'>>()
  const explained = new Map<string, StoredVerdict>()
  let failure: Error | undefined
  stream.on('error', error => {
    failure = error
  })
  stream.on('change', (change: ChangeStreamDocument<ShownAction>) => {
    if (!('documentKey' in change)) return
    const { _id } = change.documentKey
    const inserted = change.operationType === 'update' || !('fullDocument' in change) ? undefined : change.fullDocument
    if (inserted !== undefined) actions.set(_id, inserted)
    const action = actions.get(_id)
    const isExplained = change.operationType === 'update' || inserted?.verdict === 'explained'
    if (action === undefined || !isExplained || explained.has(action.provider_ref)) return
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
