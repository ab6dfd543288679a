import {
  type Command,
  type ConnectionDocument,
  type ErasedPerson,
  type ErasureDocument,
  objectReference,
  type PersonErasureDocument,
} from '@backstop/contracts'
import { createLogger } from '@backstop/kit/logger'
import { createFixedCodec, createManualClock } from '@backstop/kit/test'
import { openMemoryBooks } from '@backstop/ledger/test'
import { MINUTE, operation, PROJECT, SECOND, T0 } from '@backstop/verdict/test'
import { beforeEach, describe, expect, test } from 'vitest'
import { type ReconcileParts, reconcileBatch } from '../src/batch/reconcile-batch.ts'
import { type EventItem, itemOfEvent, type WorkItem } from '../src/batch/work-item.ts'
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
  /** Stores a request to erase a person. */
  putRequest(request: PersonErasureDocument): Promise<void>
  /** The stored progress of an erasure. */
  progress(id: string): Promise<Pick<ErasureDocument, 'cases' | 'actions' | 'bodies'> | undefined>
  /** Everything that is stored in a collection, as text. */
  text(collection: 'subjects' | 'actions' | 'inbox_bodies'): Promise<string>
}

/** A refund event with the customer of its charge. @param id of the refund and its event */
function refundEvent(
  connectionId: string,
  name: string,
  id = name,
  { payment = `pi_${name}`, customer = `cus_${name}` as string | null } = {},
): WorkItem {
  const person = { name: `Canary ${name}`, email: `${name}@canary.example` }
  const billed = { customer, billing_details: person }
  const charge = { id: `ch_${payment.slice(3)}`, object: 'charge', livemode: true, ...billed }
  const refund = {
    id: `re_${id}`,
    object: 'refund',
    amount: 2499,
    currency: 'eur',
    charge,
    payment_intent: payment,
  }
  return itemOfEvent({
    provider: 'processor',
    project_id: PROJECT,
    connection_id: connectionId,
    event_id: `evt_${id}`,
    event_type: 'refund.created',
    received_at: new Date(T0).toISOString(),
    body: {
      ...{ id: `evt_${id}`, object: 'event', type: 'refund.created', created: T0 / SECOND, livemode: true },
      data: { object: { ...refund, status: 'succeeded', created: T0 / SECOND } },
    },
  })
}

/** An event about a customer that changes no case. */
function customerEvent(connectionId: string, id: string, about: object): WorkItem {
  const customer = { object: 'customer', livemode: true, ...about }
  return itemOfEvent({
    provider: 'processor',
    project_id: PROJECT,
    connection_id: connectionId,
    event_id: id,
    event_type: 'customer.updated',
    received_at: new Date(T0).toISOString(),
    body: {
      ...{ id, object: 'event', type: 'customer.updated', created: T0 / SECOND, livemode: true },
      data: { object: customer },
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
      world.putConnection(connectionOf(id, { status: 'deleted', version: 2, deleted_at: new Date(clock.now()) }))
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
      expect(await world.stores.erasures.next({ deletedBefore: clock.now(), now: clock.now() })).toBeUndefined()
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

    describe('of a customer whom people ask to erase', () => {
      const collections = ['subjects', 'actions', 'inbox_bodies'] as const
      const everywhere = () => Promise.all(collections.map(namesIn))
      const ask = (person: Partial<ErasedPerson>) =>
        world.putRequest({
          _id: 'era_1',
          project_id: PROJECT,
          person: { customer_id: null, email: null, ...person },
          requested_at: new Date(clock.now()),
        })
      const byEmail = { email: 'ann@canary.example' }
      /** Runs the eraser for both walks. */
      async function eraseTwice(more: Partial<PersonalDataEraserParts> = {}): Promise<void> {
        await erase(more)
        await clock.advance(10 * MINUTE)
        await erase(more)
      }

      test.each<{ by: string; person: Partial<ErasedPerson> }>([
        { by: 'e-mail address', person: byEmail },
        { by: 'id at the provider', person: { customer_id: 'cus_ann' } },
      ])(
        'by the $by is erased at once from cases, actions and bodies, and that of others is kept',
        async ({ person }) => {
          await receive(customerEvent('con_a', 'evt_updated', { id: 'cus_ann', name: 'Canary ann' }))
          await receive(customerEvent('con_b', 'evt_mail', { id: 'cus_9', name: 'x', email: 'Ann@canary.example' }))
          await receive(customerEvent('con_b', 'evt_bo', { id: 'cus_bo', name: 'Canary bo' }))
          await ask(person)
          await erase()
          const mailed = person.email === undefined ? [ofBo[0], 'Ann@canary.example', ofBo[1]].sort() : ofBo
          const named = person.customer_id === undefined ? ['Canary ann', ...ofBo] : mailed
          expect(await everywhere()).toEqual([ofBo, ofBo, named])
        },
      )

      test('is done after a second walk, with the numbers of what was erased, and asks the notifier for its actions', async () => {
        await ask(byEmail)
        await erase()
        expect(commands).toMatchObject([{ kind: 'erase_person', is_last: false }])
        await clock.advance(9 * MINUTE)
        await erase()
        expect(commands).toHaveLength(1)
        await clock.advance(MINUTE)
        await erase()
        const [theCase] = await world.stores.cases.load([refOf('pi_ann')])
        const ofAnn = { action_ids: [theCase?.actions[0]?.id], customer_ids: ['cus_ann'], is_last: false }
        expect(commands).toMatchObject([ofAnn, ofAnn, { erasure_id: 'era_1', action_ids: [], is_last: true }])
        expect(JSON.stringify(commands)).not.toMatch(/canary/i)
        expect(await world.progress('era_1')).toMatchObject({ cases: 1, actions: 1, bodies: 1 })
        await erase()
        expect(commands).toHaveLength(3)
      })

      test('that was in flight during the first walk is erased by the second one', async () => {
        await ask(byEmail)
        await erase()
        await receive(refundEvent('con_a', 'ann', 'other'))
        await receive(customerEvent('con_a', 'evt_late', { id: 'cus_ann', email: 'ann@canary.example' }))
        await clock.advance(10 * MINUTE)
        await erase()
        expect(await everywhere()).toEqual([ofBo, ofBo, ofBo])
      })

      test('does not come back with later events of the same payment, nor do their bodies', async () => {
        await ask(byEmail)
        await eraseTwice()
        await receive(refundEvent('con_a', 'ann', 'again'))
        await receive({ ...(refundEvent('con_a', 'ann') as EventItem), replayId: 'rpl_1' })
        expect(await everywhere()).toEqual([ofBo, ofBo, ofBo])
        expect((await caseOf('pi_ann'))?.actions).toHaveLength(2)
      })

      test('does not stay in the body of a later event whose process is killed after the inbox mark', async () => {
        await ask(byEmail)
        await eraseTwice()
        const again = refundEvent('con_a', 'ann', 'again')
        const killable = withCrashPoints(partsOf(), point => {
          if (point === 'after the inbox mark') throw new Error('killed')
        })
        await expect(reconcileBatch([again], killable)).rejects.toThrow('killed')
        await receive(again)
        expect(await everywhere()).toEqual([ofBo, ofBo, ofBo])
      })

      test('does not come back when its case is merged with another one', async () => {
        await ask(byEmail)
        await eraseTwice()
        await receive(refundEvent('con_a', 'ann', 'again'))
        await receive(operationAbout('pi_ann', 'pi_bo'))
        await receive(refundEvent('con_a', 'ann', 'third'))
        await receive(refundEvent('con_b', 'bo', 'later'))
        // Another customer of the merged case stays, and can be erased too.
        expect([await namesIn('subjects'), await namesIn('actions')]).toEqual([ofBo, ofBo])
        const person = { customer_id: null, email: 'bo@canary.example' }
        await world.putRequest({ _id: 'era_2', project_id: PROJECT, person, requested_at: new Date(clock.now()) })
        await eraseTwice()
        expect([await namesIn('subjects'), await namesIn('actions')]).toEqual([[], []])
      })

      test('does not come back when its case is merged with one of the same customer, or of a customer without an id', async () => {
        await ask(byEmail)
        await eraseTwice()
        await receive(refundEvent('con_a', 'ann', 'new', { payment: 'pi_new' }))
        await receive(refundEvent('con_a', 'dora', 'dora', { customer: null }))
        await receive(operationAbout('pi_ann', 'pi_new'))
        await receive(operationAbout('pi_ann', 'pi_dora'))
        expect(await namesIn('subjects')).toEqual(ofBo)
      })

      test('is erased although a process is killed between the case and the listing', async () => {
        await ask(byEmail)
        await expect(erase({ reconcile: killedAfterSave })).rejects.toThrow('killed')
        expect([await namesIn('subjects'), await namesIn('actions')]).toEqual([ofBo, all])
        await erase()
        expect(await everywhere()).toEqual([ofBo, ofBo, ofBo])
      })

      test('is erased from all other cases when one case fails, and later from that one', async () => {
        await receive(refundEvent('con_a', 'cy'))
        await ask(byEmail)
        await expect(erase({ reconcile: failingFor('ann') })).rejects.toThrow('stuck')
        await clock.advance(10 * MINUTE)
        await expect(erase({ reconcile: failingFor('ann') })).rejects.toThrow('stuck')
        expect(commands.filter(command => command.kind === 'erase_person' && command.is_last)).toEqual([])
        await eraseTwice()
        expect(await namesIn('subjects')).toEqual(['Canary bo', 'Canary cy', 'bo@canary.example', 'cy@canary.example'])
        expect(commands.at(-1)).toMatchObject({ is_last: true })
      })

      test('is asked for again without an effect', async () => {
        await ask(byEmail)
        await eraseTwice()
        const before = await world.text('subjects')
        await world.putRequest({
          _id: 'era_2',
          project_id: PROJECT,
          person: { customer_id: null, ...byEmail },
          requested_at: new Date(clock.now()),
        })
        await eraseTwice()
        expect(await world.text('subjects')).toBe(before)
        expect(await world.progress('era_2')).toMatchObject({ cases: 0, actions: 0, bodies: 0 })
      })
    })
  })
}
