/** Writes through the reseller's API, so that a person can do by curl what the holder of a leaked key can do. */
import type { ApiCall } from '../../api/provider-api.ts'
import type { Reseller } from '../account.ts'
import { invalidField, ResellerRefusal } from '../refusal.ts'

/**
 * Answers a POST or a PATCH; undefined for an unknown path.
 * @param path the parts of the path, e.g. `['subscriptions', 'sub_…', 'cancel']`
 * @throws ResellerRefusal if the API refuses the request
 */
export function answerWrite(reseller: Reseller, path: readonly string[], call: ApiCall): object | undefined {
  const [resource, id, action, ...rest] = path
  if (rest.length > 0) return undefined
  const body = bodyOf(call)
  if (call.method === 'POST' && resource === 'adjustments' && id === undefined) return { data: adjust(reseller, body) }
  if (resource !== 'subscriptions' || id === undefined) return undefined
  if (call.method === 'PATCH' && action === undefined) {
    if (body.scheduled_change !== null) throw invalidField('scheduled_change', 'must be null')
    return { data: reseller.unschedule(id) }
  }
  if (call.method !== 'POST' || action === undefined) return undefined
  const data = changeSubscription(reseller, id, action, body)
  return data === undefined ? undefined : { data }
}

function adjust(reseller: Reseller, body: Record<string, unknown>): object {
  const { transaction_id: transactionId, reason, action, type, items } = body
  if (typeof transactionId !== 'string') throw invalidField('transaction_id', 'field is required')
  if (typeof reason !== 'string') throw invalidField('reason', 'field is required')
  const request = { transactionId, reason, ...(type === 'full' ? {} : { amount: amountIn(items) }) }
  if (action === 'refund') return reseller.refund(request)
  if (action === 'credit') return reseller.credit(request)
  throw invalidField('action', 'must be refund or credit')
}

/** The sum of the items' amounts, in minor units. */
function amountIn(items: unknown): number {
  if (!Array.isArray(items) || items.length === 0) throw invalidField('items', 'field is required')
  return items.reduce((sum: number, item: unknown) => {
    const amount = typeof item === 'object' && item !== null ? Reflect.get(item, 'amount') : undefined
    if (typeof amount !== 'string' || !/^\d{1,12}$/.test(amount))
      throw invalidField('items.0.amount', 'must be an amount')
    return sum + Number(amount)
  }, 0)
}

function changeSubscription(reseller: Reseller, id: string, action: string, body: Record<string, unknown>) {
  const atOnce = body.effective_from === 'immediately'
  const at = typeof body.resume_at === 'string' ? Date.parse(body.resume_at) : undefined
  switch (action) {
    case 'cancel':
      return atOnce ? reseller.cancel(id) : reseller.scheduleCancel(id)
    case 'pause':
      return atOnce ? reseller.pause(id) : reseller.schedulePause(id, at)
    case 'resume':
      return atOnce ? reseller.resume(id) : reseller.scheduleResume(id, Date.parse(String(body.effective_from)))
    default:
      return undefined
  }
}

function bodyOf(call: ApiCall): Record<string, unknown> {
  if (call.body === '') return {}
  try {
    const body: unknown = JSON.parse(call.body)
    if (typeof body === 'object' && body !== null) return { ...body }
  } catch {
    // A body that is no JSON is refused below, like every body that is not an object.
  }
  throw new ResellerRefusal(400, 'shared/bad_request', 'Invalid request.')
}
