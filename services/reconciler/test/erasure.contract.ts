import { type Command, type ConnectionDocument, objectReference } from '@backstop/contracts'
import { createLogger } from '@backstop/kit/logger'
import { createFixedCodec, createManualClock } from '@backstop/kit/test'
import { openMemoryBooks } from '@backstop/ledger/test'
import { MINUTE, operation, PROJECT, SECOND, T0 } from '@backstop/verdict/test'
import { beforeEach, describe, expect, test } from 'vitest'
import { type ReconcileParts, reconcileBatch } from '../src/batch/reconcile-batch.ts'
import { itemOfEvent, type WorkItem } from '../src/batch/work-item.ts'
import { eraseDuePersonalData, type PersonalDataEraserParts } from '../src/erasure/personal-data-eraser.ts'
import type { ReconcilerStores } from '../src/stores.ts'
import { connectionOf } from './connection-of.ts'
import { withCrashPoints } from './crash-points.ts'

const DAY = 86_400_000
const codec = createFixedCodec()

export interface ErasureUnderTest {
  readonly stores: ReconcilerStores
  /** Stores a connection, in place of one with the same id. */
  putConnection(connection: ConnectionDocument): Promise<void>
  /** Everything that is stored in a collection, as text. */
  text(collection: 'subjects' | 'actions' | 'inbox_bodies'): Promise<string>
}

/** A refund event with the customer of its charge. */
function refundEvent(connectionId: string, name: string): WorkItem {
  const person = { name: `Canary ${name}`, email: `${name}@canary.example` }
  const charge = { id: `ch_${name}`, object: 'charge', livemode: true, billing_details: person }
  const refund = {
    id: `re_${name}`,
    object: 'refund',
    amount: 2499,
    currency: 'eur',
    charge,
    payment_intent: `pi_${name}`,
  }
  return itemOfEvent({
    provider: 'processor',
    project_id: PROJECT,
    connection_id: connectionId,
    event_id: `evt_${name}`,
    event_type: 'refund.created',
    received_at: new Date(T0).toISOString(),
    body: {
      ...{ id: `evt_${name}`, object: 'event', type: 'refund.created', created: T0 / SECOND, livemode: true },
      data: { object: { ...refund, status: 'succeeded', created: T0 / SECOND } },
    },
  })
}

const refOf = (payment: string) => objectReference(PROJECT, 'processor', undefined, payment)

/** An operation that names two payments, so their cases are merged. */
function operationAbout(...payments: readonly [string, string]): WorkItem {
  return { kind: 'operation', operation: operation({ subject: payments[0], refs: payments.map(refOf) }) }
}

/** The erasure of personal data, which every implementation of the stores must allow. */
export function erasureContract(name: string, open: () => Promise<ErasureUnderTest>): void {
  describe(`personal data ${name}`, () => {
    let world: ErasureUnderTest
    let clock: ReturnType<typeof createManualClock>
    let commands: Command[]
    const logger = createLogger('test', 'silent')
    const producer: ReconcileParts['producer'] = {
      start: async () => {},
      stop: async () => {},
      async send(messages) {
        for (const { value } of messages) commands.push(await codec.decode('command', value as Buffer))
      },
    }

    const partsOf = (): ReconcileParts => ({
      stores: world.stores,
      ledger: openMemoryBooks({ announce: () => {} }).ledger,
      publisher: { publish: async () => ({ stuck: 0 }) },
      producer: { start: async () => {}, stop: async () => {}, send: async () => {} },
      codec: { encode: () => Buffer.alloc(0) },
      clock,
      rules: { recheckDelayMs: MINUTE },
    })
    const receive = (item: WorkItem) => reconcileBatch([item], partsOf())
    async function erase(more: Partial<PersonalDataEraserParts> = {}): Promise<void> {
      const reconcile = async (items: readonly WorkItem[]) => void (await reconcileBatch(items, partsOf()))
      const { stores } = world
      const { erasures } = stores
      await eraseDuePersonalData({ stores, erasures, reconcile, producer, codec, clock, logger, ...more })
    }
    const killedAfterSave = async (items: readonly WorkItem[]) => {
      const killable = withCrashPoints(partsOf(), point => {
        if (point === 'after the save') throw new Error('killed')
      })
      await reconcileBatch(items, killable)
    }
    /** Fails for the case of one customer, as if its document could not be written. */
    const failingFor = (name: string) => async (items: readonly WorkItem[]) => {
      if (items.some(item => item.kind === 'erase_personal_data' && item.ref.includes(name))) throw new Error('stuck')
      await reconcileBatch(items, partsOf())
    }
    const caseOf = async (name: string) => (await world.stores.cases.load([refOf(name)]))[0]
    const deleteConnection = (id: string) =>
      world.putConnection(connectionOf(id, { status: 'deleted', deleted_at: new Date(clock.now()) }))
    async function namesIn(collection: Parameters<ErasureUnderTest['text']>[0]): Promise<string[]> {
      const found = (await world.text(collection)).match(/Canary \w+|\w+@canary\.example/g) ?? []
      return [...new Set(found)].sort()
    }

    beforeEach(async () => {
      clock = createManualClock(T0 + SECOND)
      commands = []
      world = await open()
      for (const id of ['con_a', 'con_b']) await world.putConnection(connectionOf(id, {}))
      await receive(refundEvent('con_a', 'ann'))
      await receive(refundEvent('con_b', 'bo'))
    })

    const all = ['Canary ann', 'Canary bo', 'ann@canary.example', 'bo@canary.example']
    const ofBo = ['Canary bo', 'bo@canary.example']

    test('is kept for half a year after its action was first seen, then erased from the case and the listed action', async () => {
      await clock.advance(178 * DAY)
      await erase()
      expect([await namesIn('subjects'), await namesIn('actions')]).toEqual([all, all])
      await clock.advance(2 * DAY)
      await erase()
      expect([await namesIn('subjects'), await namesIn('actions')]).toEqual([[], []])
      expect(await world.stores.cases.withExpiredPersonalData(clock.now() + 1_000 * DAY, 9)).toEqual([])
    })

    test('of a deleted connection is erased from cases, actions and bodies, and that of others is kept', async () => {
      await deleteConnection('con_a')
      await erase()
      expect(await namesIn('subjects')).toEqual(all)
      await clock.advance(11 * MINUTE)
      await erase()
      for (const collection of ['subjects', 'actions', 'inbox_bodies'] as const) {
        expect(await namesIn(collection)).toEqual(ofBo)
      }
      expect(await world.stores.erasures.next(clock.now())).toBeUndefined()
    })

    test('of a deleted connection is erased from deliveries by the notifier, which gets one command after the cases', async () => {
      await deleteConnection('con_a')
      await clock.advance(11 * MINUTE)
      await expect(erase({ reconcile: killedAfterSave })).rejects.toThrow('killed')
      expect(commands).toEqual([])
      await erase()
      expect(commands).toMatchObject([{ kind: 'erase_deliveries', project_id: PROJECT, connection_id: 'con_a' }])
      await erase()
      expect(commands).toHaveLength(1)
    })

    test('is erased from all other cases when one case fails, and from that one when it does not fail any more', async () => {
      await receive(refundEvent('con_a', 'cy'))
      await deleteConnection('con_a')
      await clock.advance(11 * MINUTE)
      const stuck = failingFor('ann')
      const ofAnn = ['Canary ann', 'ann@canary.example']
      for (let run = 0; run < 2; run += 1) {
        await expect(erase({ reconcile: stuck })).rejects.toThrow('stuck')
        expect(await namesIn('subjects')).toEqual([ofAnn[0], ofBo[0], ofAnn[1], ofBo[1]])
      }
      expect(await namesIn('inbox_bodies')).toEqual(ofBo)
      expect(commands).toEqual([])
      await erase()
      expect(await namesIn('subjects')).toEqual(ofBo)
      expect(commands).toHaveLength(1)
    })

    test('is erased after its time from all other cases when one case fails', async () => {
      await clock.advance(180 * DAY)
      await expect(erase({ reconcile: failingFor('ann') })).rejects.toThrow('stuck')
      expect(await namesIn('subjects')).toEqual(['Canary ann', 'ann@canary.example'])
      await erase()
      expect(await namesIn('subjects')).toEqual([])
    })

    test('of a deleted connection is erased when another connection also waits and its case fails', async () => {
      for (const id of ['con_a', 'con_b']) await deleteConnection(id)
      await clock.advance(11 * MINUTE)
      await expect(erase({ reconcile: failingFor('ann') })).rejects.toThrow('stuck')
      expect(await namesIn('subjects')).toEqual(['Canary ann', 'ann@canary.example'])
      expect(commands).toMatchObject([{ connection_id: 'con_b' }])
    })

    test('is erased from a case that is merged with one that the eraser has already visited', async () => {
      const { stores } = world
      await deleteConnection('con_a')
      await clock.advance(11 * MINUTE)
      const ids = await Promise.all(['ann', 'bo'].map(async name => (await caseOf(`pi_${name}`))?.id ?? ''))
      const [visited, other] = ids[0]! < ids[1]! ? ['ann', 'bo'] : ['bo', 'ann']
      let pages = 0
      const page: typeof stores.cases.page = async (projectId, after) => {
        pages += 1
        // An operation that names both payments shows that they are one.
        if (pages === 2) await receive(operationAbout(`pi_${visited}`, `pi_${other}`))
        return stores.cases.page(projectId, after, 1)
      }
      await erase({ stores: { ...stores, cases: { ...stores.cases, page } } })
      expect((await caseOf('pi_ann'))?.id).toBe((await caseOf('pi_bo'))?.id)
      expect(await namesIn('subjects')).toEqual([])
    })

    test('of an event that arrives after the deletion is not stored', async () => {
      await deleteConnection('con_a')
      await clock.advance(11 * MINUTE)
      await erase()
      await receive(refundEvent('con_a', 'late'))
      for (const collection of ['subjects', 'actions', 'inbox_bodies'] as const) {
        expect(await namesIn(collection)).toEqual(ofBo)
      }
    })

    test.each([
      { what: 'its time is over', kept: [], due: () => clock.advance(180 * DAY) },
      {
        what: 'its connection is deleted',
        kept: ofBo,
        due: async () => {
          await deleteConnection('con_a')
          await clock.advance(11 * MINUTE)
        },
      },
    ])('is erased when $what, although a process is killed between the case and the listing', async ({ due, kept }) => {
      await due()
      await expect(erase({ reconcile: killedAfterSave })).rejects.toThrow('killed')
      expect([await namesIn('subjects'), await namesIn('actions')]).toEqual([kept, all])
      await erase()
      expect([await namesIn('subjects'), await namesIn('actions')]).toEqual([kept, kept])
    })
  })
}
