/** Writes through the processor's API, so that a person can do by curl what the holder of a leaked key can do. */
import type { ApiCall } from '../../api/provider-api.ts'
import type { CardProcessor } from '../account.ts'
import type { Caller } from '../account-state.ts'
import type { RefundRequest } from '../refunds.ts'
import { invalidRequest, type ProcessorRefusal } from '../refusal.ts'

/**
 * Answers a POST or a DELETE; undefined for an unknown path.
 * @throws ProcessorRefusal if the API refuses the request
 */
export function answerWrite(
  processor: CardProcessor,
  [resource, id, ...rest]: readonly string[],
  call: ApiCall,
): object | undefined {
  if (rest.length > 0) return undefined
  const form = new URLSearchParams(call.body)
  const caller = { idempotencyKey: call.header('idempotency-key') ?? null, requestId: call.requestId }
  if (call.method === 'POST' && id === undefined && resource === 'refunds') return refund(processor, form, caller)
  if (call.method === 'POST' && id === undefined && resource === 'payment_intents') return pay(processor, form)
  if (resource !== 'subscriptions' || id === undefined) return undefined
  if (call.method === 'POST') return scheduleCancel(processor, id, form, caller)
  // The API ignores idempotency keys of a DELETE.
  if (call.method === 'DELETE') return processor.cancel(id, { ...words(form), requestId: call.requestId })
  return undefined
}

function refund(processor: CardProcessor, form: URLSearchParams, caller: Caller): object {
  const request: RefundRequest = { ...caller }
  for (const [name, value] of form) {
    const metadata = /^metadata\[([^\]]+)\]$/.exec(name)?.[1]
    if (metadata !== undefined) request.metadata = { ...request.metadata, [metadata]: value }
    else if (name === 'charge' || name === 'payment_intent') request[name] = value
    else if (name === 'reason') request.reason = value as NonNullable<RefundRequest['reason']>
    else if (name === 'amount') request.amount = integer(value, name)
    else throw unknownParameter(name)
  }
  return processor.refund(request)
}

/** A payment that succeeds at once with any card. */
function pay(processor: CardProcessor, form: URLSearchParams): object {
  const currency = form.get('currency')
  if (currency === null) throw invalidRequest('Missing required param: currency.', 'currency', 'parameter_missing')
  const amount = form.get('amount')
  if (amount === null) throw invalidRequest('Missing required param: amount.', 'amount', 'parameter_missing')
  return processor.createPayment({ amount: integer(amount, 'amount'), currency }).paymentIntent
}

/** Sets or removes `cancel_at_period_end`, the only change that the simulator supports. */
function scheduleCancel(processor: CardProcessor, id: string, form: URLSearchParams, caller: Caller): object {
  const flag = form.get('cancel_at_period_end')
  if (flag === null) throw invalidRequest('Missing required param: cancel_at_period_end.', 'cancel_at_period_end')
  return flag === 'true'
    ? processor.scheduleCancel(id, { ...words(form), ...caller })
    : processor.unschedule(id, caller)
}

function words(form: URLSearchParams): { comment?: string; feedback?: string } {
  const comment = form.get('cancellation_details[comment]')
  const feedback = form.get('cancellation_details[feedback]')
  return { ...(comment === null ? {} : { comment }), ...(feedback === null ? {} : { feedback }) }
}

function integer(text: string, name: string): number {
  if (!/^\d{1,12}$/.test(text)) throw invalidRequest(`Invalid integer: ${text}`, name, 'parameter_invalid_integer')
  return Number(text)
}

/** 400 `parameter_unknown`. */
export function unknownParameter(name: string): ProcessorRefusal {
  return invalidRequest(`Received unknown parameter: ${name}`, name, 'parameter_unknown')
}
