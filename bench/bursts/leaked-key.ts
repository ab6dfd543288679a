import { setTimeout as sleep } from 'node:timers/promises'
import { until } from '@backstop/kit/test'
import type { ReceivedDelivery } from '@backstop/simulator'
import { incidentOf, isOpened } from '../../test/setup/customer.ts'
import type { Shop } from '../../test/setup/shop.ts'

const PAUSE_MS = 40

/** What a leaked key did, and the first message about it. */
export interface NoticedKey {
  readonly refs: readonly string[]
  readonly delivery: ReceivedDelivery
  /** From the tenth refund to the message, in milliseconds. */
  readonly delayMs: number
}

/** Refunds 25 payments a second, and waits for the alarm. @param count at least ten */
export async function useLeakedKey(shop: Shop, count: number, withinMs: number): Promise<NoticedKey> {
  const payments = Array.from({ length: count }, () => shop.pay())
  await shop.endpoint.idle()
  const refs: string[] = []
  let tenthAtMs = 0
  for (const { paymentIntent } of payments) {
    refs.push(shop.processor.refund({ payment_intent: paymentIntent.id, amount: 2_500 }).id)
    if (refs.length === 10) tenthAtMs = Date.now()
    await sleep(PAUSE_MS)
  }
  const isAlarm = (delivery: ReceivedDelivery) =>
    isOpened(delivery) && incidentOf(delivery)?.code === 'UNEXPLAINED_BURST'
  const delivery = await until('the alarm', () => shop.receiver.deliveries().find(isAlarm), { timeoutMs: withinMs })
  return { refs, delivery, delayMs: delivery.receivedAtMs - tenthAtMs }
}
