/** Connected accounts of one connection: an operation explains nothing on the payment of another account. */
import { describe, expect, test } from 'vitest'
import { lookAll, operationSeen, play, refundSeen, SECOND, T0 } from '../../test/fixtures.ts'
import type { Input } from '../decide/decide.ts'

/** A refund of each of two accounts, with the same amount and time. */
const OURS = { id: 're_a', paymentIntent: 'pi_a', charge: 'ch_a' }
const FOREIGN = { id: 're_b', paymentIntent: 'pi_b', charge: 'ch_b' }
const key = { idempotencyKey: 'order-1' }

describe('two refunds with one idempotency key, because each account counts its own orders', () => {
  const steps: readonly { name: string; inputs: readonly Input[] }[] = [
    {
      name: 'the operation first',
      inputs: [operationOfA(), refundSeen({ ...OURS, ...key }), refundSeen({ ...FOREIGN, ...key })],
    },
    {
      name: 'our refund first',
      inputs: [refundSeen({ ...OURS, ...key }), refundSeen({ ...FOREIGN, ...key }), operationOfA()],
    },
    {
      name: 'the other refund first',
      inputs: [refundSeen({ ...FOREIGN, ...key }), operationOfA(), refundSeen({ ...OURS, ...key })],
    },
  ]
  function operationOfA(): Input {
    return operationSeen({ subject: 'pi_a', idempotency_key: 'order-1', state: 'executing', ended_at: null })
  }

  test.each(steps)('are explained by the operation only on its own payment: $name', ({ inputs }) => {
    const played = play(inputs.map((input, index) => ({ at: T0 + index * SECOND, input })))
    const verdicts = lookAll(played).actions.map(({ providerRef, verdict }) => `${providerRef} ${verdict}`)
    expect(verdicts.sort()).toEqual(['re_a explained', 're_b unexplained'])
  })
})
