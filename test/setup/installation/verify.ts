/** Compares what was sent with what was recorded, decided and delivered. */

import type { ReceivedDelivery } from '@backstop/simulator'
import type { Db } from 'mongodb'
import { isOpened, refOf } from '../customer.ts'
import type { SentRefund } from './load.ts'

export interface Verification {
  readonly events: number
  readonly alerts: number
  /** One line for each kind of difference; empty if nothing was lost or doubled. */
  readonly differences: readonly string[]
  /** Milliseconds from the due time of each second look to the delivery of its alert. */
  readonly lateMs: readonly number[]
}

interface StoredAction {
  readonly provider_ref: string
  readonly verdict: string
  readonly second_look_at?: string | null
}

export async function verify(
  database: Db,
  sent: readonly SentRefund[],
  deliveries: readonly ReceivedDelivery[],
): Promise<Verification> {
  const fields = { _id: 0, provider_ref: 1, verdict: 1, second_look_at: 1 }
  const actions = await database.collection('actions').find<StoredAction>({}, { projection: fields }).toArray()
  const byRef = new Map(actions.map(action => [action.provider_ref, action]))
  const inbox = await database.collection('inbox').countDocuments()
  const incidents = await database.collection('incidents').countDocuments({ code: 'UNEXPECTED_ACTION' })
  const opened = deliveries.filter(isOpened)
  const alerted = new Map<string, ReceivedDelivery[]>()
  for (const delivery of opened) {
    const ref = refOf(delivery) ?? ''
    alerted.set(ref, [...(alerted.get(ref) ?? []), delivery])
  }
  const unexplained = sent.filter(({ isExplained }) => !isExplained)
  const refs = (refunds: readonly SentRefund[]) => refunds.map(({ id }) => `re_${id}`)
  const wrong = sent.filter(
    ({ id, isExplained }) => byRef.get(`re_${id}`)?.verdict !== (isExplained ? 'explained' : 'unexplained'),
  )
  const expected = new Set(refs(unexplained))
  const counts: Readonly<Record<string, number>> = {
    'events that are not recorded exactly once': Math.abs(sent.length - inbox),
    'actions too many or too few': Math.abs(sent.length - actions.length),
    'refunds with a wrong or no verdict': wrong.length,
    'incidents too many or too few': Math.abs(unexplained.length - incidents),
    'unexplained refunds without an alert': refs(unexplained).filter(ref => !alerted.has(ref)).length,
    'refunds that alerted more than once': [...alerted.values()].filter(list => list.length > 1).length,
    'refunds that alerted without need': [...alerted.keys()].filter(ref => !expected.has(ref)).length,
    'alerts before their second look': opened.filter(one => lateness(one, byRef) < 0).length,
  }
  return {
    events: sent.length,
    alerts: opened.length,
    differences: Object.entries(counts).flatMap(([what, count]) => (count === 0 ? [] : [`${count} ${what}`])),
    lateMs: opened.map(one => lateness(one, byRef)).filter(Number.isFinite),
  }
}

function lateness(delivery: ReceivedDelivery, actions: ReadonlyMap<string, StoredAction>): number {
  const dueAt = Date.parse(actions.get(refOf(delivery) ?? '')?.second_look_at ?? '')
  return delivery.receivedAtMs - dueAt
}
