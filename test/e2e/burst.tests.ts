/** The burst alarm of the whole product with the delay of second looks that users have. */
import { until } from '@backstop/kit/test'
import { expect, test } from 'vitest'
import { incidentOf, isOpened } from '../setup/customer.ts'
import { useLeakedKey } from '../setup/leaked-key.ts'
import { openShop } from '../setup/shop.ts'
import { minuteProduct } from './shared-products.ts'

/** The promise is five seconds, which bench/bursts measures. A test machine is busier. */
const ALARM_MS = 20_000
const END_MS = 120_000

test('a leaked key is reported within seconds, once, and its burst ends as the storm of the second looks', async () => {
  const shop = await openShop(minuteProduct.get(), { livemode: true })
  try {
    const { delivery, delayMs, refs } = await useLeakedKey(shop, 50, ALARM_MS)
    expect(delayMs).toBeLessThan(ALARM_MS)
    const incident = incidentOf(delivery)!
    expect(incident).toMatchObject({ code: 'UNEXPLAINED_BURST', state: 'open', storm_id: expect.any(String) })
    expect(incident.burst!.count).toBeGreaterThanOrEqual(10)
    expect(incident.burst!.common?.amount).toMatchObject({ value: 2_500, currency: 'eur' })
    const ended = await until(
      'the end of the burst',
      async () =>
        (await shop.incidents()).find(({ code, state }) => code === 'UNEXPLAINED_BURST' && state === 'resolved'),
      { timeoutMs: END_MS },
    )
    expect(ended.burst?.outcome).toBe('confirmed')
    const looked = () =>
      shop.receiver.deliveries().filter(one => isOpened(one) && incidentOf(one)?.code === 'UNEXPECTED_ACTION')
    await until('an alert for each refund', () => looked().length === refs.length, { timeoutMs: END_MS })
    const about = shop.receiver.deliveries().filter(one => incidentOf(one)?.code === 'UNEXPLAINED_BURST')
    expect(about).toHaveLength(1)
  } finally {
    await shop.stop()
  }
})
