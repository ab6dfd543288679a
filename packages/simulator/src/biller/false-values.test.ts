import { expect, test } from 'vitest'
import { createChance } from '../chance.ts'
import { createBiller } from './account.ts'
import { withFalseValues } from './false-values.ts'

const NOW_MS = 1_764_000_000_000

function refunded() {
  const biller = createBiller({ now: () => NOW_MS, chance: createChance(1) })
  const { subscription, invoice } = biller.subscribe({ amount: 4_999 })
  biller.refundInvoice(invoice.id, { amount: 2_499, idAtGateway: 're_3Q' })
  biller.scheduleCancel(subscription.id)
  return biller.events()
}

/** Every value with its path, e.g. `content.transaction.amount`. */
function leaves(value: unknown, path = ''): [string, unknown][] {
  if (typeof value !== 'object' || value === null) return [[path, value]]
  return Object.entries(value).flatMap(([name, held]) => leaves(held, path === '' ? name : `${path}.${name}`))
}

const IDENTITY = /(?:^id|_id|id_at_gateway|object|event_type)$/
const TOLD = /amount|total|status|source|_at$|date|cancelled|pause|deleted/

test('keeps every id and changes every amount, state, time and cause', () => {
  const wrong: string[] = []
  for (const event of refunded()) {
    const lie = new Map(leaves(withFalseValues(event, createChance(2))))
    for (const [path, value] of leaves(event)) {
      const name = path.split('.').at(-1) ?? ''
      const isKept = lie.get(path) === value
      if (IDENTITY.test(name)) {
        if (!isKept) wrong.push(`${path} was changed`)
      } else if (TOLD.test(name) && name !== 'webhook_status' && isKept) wrong.push(`${path} was left true`)
    }
    expect(lie.get('user')).toBe('backstop')
  }
  expect(wrong).toEqual([])
})

test('gives the same false values for the same chance', () => {
  const [event] = refunded()
  if (event === undefined) throw new Error('There is no event')
  expect(withFalseValues(event, createChance(3))).toEqual(withFalseValues(event, createChance(3)))
  expect(withFalseValues(event, createChance(3))).not.toEqual(withFalseValues(event, createChance(4)))
})
