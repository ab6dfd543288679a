import type { History, Shop } from './history.ts'
import { event, refund, requestOfRefund, requestWithKey } from './processor-shapes.ts'
import { reportRefund } from './processor-steps.ts'

/** A refund of 700 on the payment of the same number, by the event of a connected account. */
const postOn = (
  shop: Shop,
  account: string,
  number: number | string,
  request: ReturnType<typeof requestOfRefund | typeof requestWithKey> = requestOfRefund(`re_${number}`),
) =>
  shop.post({
    ...event('refund.created', refund(`re_${number}`, 700, shop.now(), ofPayment(number)), { at: shop.now(), request }),
    account,
  })
const ofPayment = (number: number | string) => ({ payment_intent: `pi_${number}`, charge: `ch_${number}` })

const ACCOUNTS = Array.from({ length: 50 }, (_, index) => index + 1)

/** A platform, which gets the events of its connected accounts through one connection. */
export const PROCESSOR_PLATFORMS: readonly History[] = [
  {
    name: 'a platform with 50 accounts: our refund on each, and a stranger’s of the same amount on one',
    async play(shop) {
      for (const number of ACCOUNTS) await reportRefund(shop, { subject: `pi_${number}` })
      await postOn(shop, 'acct_7', 'stranger')
      for (const number of ACCOUNTS) await postOn(shop, `acct_${number}`, number)
    },
    verdicts: [...ACCOUNTS.map(number => `refund re_${number} explained`), 'refund re_stranger unexplained'].sort(),
    alerts: ['opened re_stranger'],
  },
  {
    name: 'a platform with 50 accounts: a stranger refunds on one whose setting is ignore, and on another',
    async play(shop) {
      await shop.change({ accounts: [{ account: 'acct_7', out_of_band: 'ignore' }] })
      await postOn(shop, 'acct_7', 7)
      await postOn(shop, 'acct_8', 8)
    },
    verdicts: ['refund re_7 not_alerted', 'refund re_8 unexplained'],
    alerts: ['opened re_8'],
  },
  {
    name: 'two accounts of a platform whose refunds have one idempotency key: ours on the first only',
    async play(shop) {
      await reportRefund(shop, { subject: 'pi_1', idempotency_key: 'order-1' })
      await postOn(shop, 'acct_1', 1, requestWithKey('order-1'))
      await shop.untilJudged('re_1')
      await postOn(shop, 'acct_2', 2, requestWithKey('order-1'))
    },
    verdicts: ['refund re_1 explained', 'refund re_2 unexplained'],
    alerts: ['opened re_2'],
  },
]
