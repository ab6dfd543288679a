/** The refunds that the totals of a charge prove: runs each example of docs/decisions/explaining.md in several orders. */

import { describe, expect, test } from 'vitest'
import { type ExplainingRow, explainingRows, timeOf } from '../../test/explaining-table.ts'
import { lookAll, MINUTE, play, refundSeen, T0, totalSeen } from '../../test/fixtures.ts'
import type { ActionRecord } from '../case/action-record.ts'
import type { Input } from '../decide/decide.ts'

const CLOCK = String.raw`(\d\d:\d\d:\d\d)`
const REFUND = new RegExp(`^(\\d+) at ${CLOCK}(?:, failed at ${CLOCK})?(?:, request (\\w))?(?:, key (\\w))?$`)
const TOTAL = new RegExp(`^(?:(\\d+)→)?(\\d+) at ${CLOCK}(?:, request (\\w))?(?:, key (\\w))?$`)

/**
 * The events of a row.
 * @throws Error for a field in an unknown form
 */
function eventsOf({ shown, known }: ExplainingRow): Input[] {
  const chargeMade = known.get('charge made')
  const uncaptured = known.get('not captured')
  const charge = {
    ...(chargeMade === undefined ? {} : { chargeCreatedAt: timeOf(chargeMade) }),
    ...(uncaptured === undefined ? {} : { uncaptured: Number(uncaptured) }),
  }
  return [...shown].flatMap(([field, text]) => {
    const [what, name = ''] = field.split(' ')
    const parts = (what === 'refund' ? REFUND : TOTAL).exec(text)
    if (parts === null) throw new Error(`Not a ${what}: ${text}`)
    const [, first, second, third, request, key] = parts
    const made = {
      ...(request === undefined ? {} : { requestId: request }),
      ...(key === undefined ? {} : { idempotencyKey: key }),
    }
    if (what === 'total') {
      const before = first === undefined ? {} : { before: Number(first) }
      const facts = { total: Number(second), createdAt: timeOf(third ?? ''), ...before, ...charge, ...made }
      return [totalSeen(facts, { eventId: field })]
    }
    const refund = { id: name, amount: Number(first), createdAt: timeOf(second ?? '') }
    const failed = {
      ...refund,
      eventType: 'refund.failed',
      status: 'failed',
      reportedAt: timeOf(third ?? second ?? ''),
    }
    return [refundSeen({ ...refund, ...made }), ...(third === undefined ? [] : [refundSeen(failed)])]
  })
}

function recordedAs({ providerRef, amount, madeFrom, providerCreatedAt }: ActionRecord): string {
  if (providerRef !== null) return providerRef
  const time = new Date(providerCreatedAt).toISOString().slice(11, 19)
  return `provisional ${amount} ${madeFrom === providerCreatedAt ? 'at' : 'before'} ${time}`
}

describe('docs/decisions/explaining.md holds for the totals of a charge', () => {
  const rows = explainingRows('totals')
  const orders = [
    { name: 'in order', order: (events: Input[]) => events, apartMs: 0 },
    { name: 'in reverse', order: (events: Input[]) => events.reverse(), apartMs: 0 },
    { name: 'minutes apart', order: (events: Input[]) => events, apartMs: 2 * MINUTE },
    { name: 'in reverse, minutes apart', order: (events: Input[]) => events.reverse(), apartMs: 2 * MINUTE },
  ]

  test('the table has rows', () => {
    expect(rows.length).toBeGreaterThan(10)
  })

  test.each(orders.flatMap(({ name, order, apartMs }) => rows.map(row => ({ ...row, name, row, order, apartMs }))))(
    '$situation ($name)',
    ({ row, order, apartMs, answer }) => {
      const since = T0 + 180 * MINUTE
      const theCase = order(eventsOf(row)).reduce((next, input, index) => {
        const seen = play([{ at: since + index * apartMs, input }], next)
        return apartMs === 0 ? seen : lookAll(seen)
      }, play([]))
      const recorded = lookAll(theCase).actions.map(recordedAs)
      expect(recorded.sort()).toEqual(answer.split(', ').sort())
    },
  )
})
