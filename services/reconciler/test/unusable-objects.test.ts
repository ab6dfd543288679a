/** Unusable objects in a provider's answer, through the whole reconciler in memory. The other objects are used. */
import { HEADERS, type Readback, type ReadObject } from '@backstop/contracts'
import { PROJECT } from '@backstop/verdict/test'
import { afterEach, expect, test } from 'vitest'
import { connectionOf } from './connection-of.ts'
import { startMemoryReconciler } from './memory-reconciler.ts'

const stops: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const stop of stops.splice(0)) await stop()
})

const ODD_ID = 'Söhne & Co KG / 1'
let readbacks = 0

async function harness() {
  const biller = { kind: 'subscription', site: 'acme' } as const
  const { clock, contents, answer, dead, metrics, codec, stop } = await startMemoryReconciler(
    'con_1',
    () => ({}),
    biller,
  )
  stops.push(stop)
  const readback = (objects: ReadObject[], more: Partial<Readback> = {}): Readback => ({
    readback_id: `rbk_${++readbacks}`,
    project_id: PROJECT,
    connection_id: 'con_1',
    provider: 'subscription',
    reason: 'sweep',
    event: null,
    look: null,
    targets: [],
    read_at: new Date(clock.now()).toISOString(),
    outcome: 'read',
    failure: null,
    objects,
    ...more,
  })
  return {
    clock,
    publish: async (...answers: Readback[]) => {
      await answer(answers)
      await clock.advance(1_000)
    },
    readback,
    /** A subscription that was cancelled a moment ago. */
    cancelled: (id: unknown): ReadObject => {
      const now = Math.floor(clock.now() / 1000)
      return { type: 'subscription', body: { id, status: 'cancelled', cancelled_at: now, updated_at: now } as never }
    },
    deleteConnection: () =>
      contents.connections.set(
        'con_1',
        connectionOf('con_1', { kind: 'subscription', status: 'deleted', deleted_at: new Date(clock.now()) }),
      ),
    subjects: () => [...contents.actions.values()].map(({ subject }) => subject),
    inbox: () => [...contents.inbox.values()],
    dead,
    metrics,
    codec,
  }
}

test('an unusable object is dead-lettered with its reason and listed in the inbox, and the others of its answer are judged', async () => {
  const { publish, readback, cancelled, subjects, inbox, dead, codec } = await harness()
  const bad: ReadObject = { ...cancelled('S\u0007'), fault: 'it has no usable id' }
  await publish(readback([cancelled('a'), bad, cancelled(ODD_ID)]))
  expect(subjects()).toEqual(['a', ODD_ID])
  expect(dead()).toHaveLength(1)
  expect(dead()[0]?.headers).toMatchObject({
    [HEADERS.originalTopic]: 'readbacks',
    [HEADERS.errorCode]: 'message_invalid',
    [HEADERS.errorMessage]: expect.stringContaining('it has no usable id'),
  })
  expect((await codec.decode('readback', dead()[0]?.value ?? null)).objects).toEqual([bad])
  expect(inbox()).toMatchObject([
    {
      document: {
        project_id: PROJECT,
        connection_id: 'con_1',
        event_type: 'sweep.subscription',
        outcome: 'parked',
        reason:
          'The subscription "S\\u0007" in an answer of the subscription provider cannot be used: it has no usable id',
      },
      body: JSON.stringify(bad.body),
    },
  ])
})

test('an object that does not fit its type is dead-lettered, and the others of its answer are judged', async () => {
  const { publish, readback, cancelled, subjects, dead, inbox } = await harness()
  const bad: ReadObject = { type: 'subscription', body: { id: 'b', status: 7 } }
  await publish(readback([bad, cancelled('c')]))
  expect(subjects()).toEqual(['c'])
  expect(dead()).toHaveLength(1)
  expect(inbox()[0]?.document.reason).toContain('subscription.status')
})

test('an unusable object that every sweep lists again is dead-lettered once', async () => {
  const { publish, readback, cancelled, dead, inbox, clock } = await harness()
  const bad: ReadObject = { ...cancelled('S\u0007'), fault: 'it has no usable id' }
  await publish(readback([bad]), readback([bad, bad]))
  await clock.advance(300_000)
  await publish(readback([{ ...bad, body: { ...bad.body, updated_at: 1 } }]))
  expect(dead()).toHaveLength(1)
  expect(inbox()).toHaveLength(1)
})

test('an unusable object is neither dead-lettered nor listed after its connection was deleted', async () => {
  const { publish, readback, cancelled, subjects, dead, inbox, deleteConnection } = await harness()
  deleteConnection()
  await publish(readback([{ ...cancelled('S\u0007'), fault: 'it has no usable id' }, cancelled('c')]))
  expect(subjects()).toEqual(['c'])
  expect([dead(), inbox()]).toEqual([[], []])
})

test('two unusable objects are two dead letters, and both are counted', async () => {
  const { publish, readback, dead, metrics } = await harness()
  const fault = 'it has no usable id'
  await publish(readback([1, 2].map(item => ({ type: 'subscription', body: { item }, fault }))))
  expect(dead()).toHaveLength(2)
  expect(await metrics()).toMatch(
    /^dead_letters_total\{topic="readbacks",code="message_invalid",service="reconciler"\} 2$/m,
  )
})
