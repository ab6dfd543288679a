import { MINUTE } from '@backstop/verdict/test'
import { expect, test } from 'vitest'
import { expectedChangeHarness } from './expected-change-harness.ts'

test('a look that was due when it was received is made, also if the clock is set back before the decision', async () => {
  const { clock, stores, reconcile, refund, look } = expectedChangeHarness()
  await reconcile(refund('1'))
  const dueAtMs = [...stores.contents.cases.values()][0]?.actions[0]?.look?.dueAt ?? 0
  const due = look('1').map(item => ({ ...item, receivedAtMs: dueAtMs }))
  // The harness advances its clock by a minute before a look.
  await clock.advance(-2 * MINUTE)
  await reconcile(...due)
  expect([...stores.contents.actions.values()]).toMatchObject([{ verdict: 'unexplained' }])
})
