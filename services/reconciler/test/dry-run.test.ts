/**
 * Replays of a shop's history in memory. With the same rules there is no difference; with other rules exactly the
 * affected actions differ.
 */

import type { ResolveReason, VerdictDifference } from '@backstop/contracts'
import type { Clock } from '@backstop/kit/clock'
import { createManualClock } from '@backstop/kit/test'
import { openMemoryBooks } from '@backstop/ledger/test'
import { type ActionRecord, lastResultOf, needsVerdict, permissionToAlert, withOutOfBand } from '@backstop/verdict'
import { MINUTE, PROJECT, T0 } from '@backstop/verdict/test'
import { describe, expect, test } from 'vitest'
import { type ReconcileParts, reconcileBatch } from '../src/batch/reconcile-batch.ts'
import type { WorkItem } from '../src/batch/work-item.ts'
import { createIncidentChanger } from '../src/commands/change-incidents.ts'
import { wasAlerted } from '../src/dry-run/compare.ts'
import { type DryRunOptions, dryRun } from '../src/dry-run/dry-run.ts'
import { openMemoryShop } from './memory-shop.ts'
import { CARDS, HOUR, OLD_CARDS, PLANS, recordShop } from './recorded-shop.ts'

type Shop = ReturnType<typeof openMemoryShop>
type Action = Shop['contents']['actions'] extends Map<string, infer Value> ? Value : never

async function openShop(seed: number, rounds = 3) {
  const shop = openMemoryShop()
  const endedAt = await recordShop(shop, seed, rounds)
  return { shop, endedAt }
}

async function replay(shop: Shop, endedAt: number, options: Partial<DryRunOptions> = {}) {
  const differences: VerdictDifference[] = []
  const summary = await dryRun({
    source: shop.source,
    window: { from: T0 - HOUR, to: endedAt },
    recheckDelayMs: MINUTE,
    now: () => endedAt,
    onDifference: difference => differences.push(difference),
    ...options,
  })
  return { summary, differences }
}

describe('with the current rules and settings', () => {
  test.each([1, 2, 3, 4, 5, 6, 7, 8])('nothing differs (shop %i)', async seed => {
    const { shop, endedAt } = await openShop(seed)
    const { summary, differences } = await replay(shop, endedAt)
    expect(differences).toEqual([])
    const judged = [...shop.contents.actions.values()].filter(
      ({ kind }) => kind === 'refund' || kind === 'cancellation',
    )
    expect(summary.actions).toMatchObject({ compared: judged.length, different: 0, undecided: 0 })
    expect(summary.actions.by_basis.events).toBeGreaterThan(0)
    expect(summary.actions.by_basis.reading).toBeGreaterThan(0)
    expect(new Set(judged.map(({ reason }) => reason))).toEqual(
      new Set([
        'provider_ref_matches',
        'idempotency_key_matches',
        'amount_and_time_match',
        'expected_change_matches',
        'nothing_explains_it',
        'auto_before_first_operation',
        'provider_denies_it',
      ]),
    )
  })
})

describe('of actions that a person resolved as our own change', () => {
  test('nothing differs, whether or not the expected change was applied', async () => {
    const { shop, endedAt } = await openShop(9)
    const [own, fraud] = [...shop.contents.actions.values()].filter(({ verdict }) => verdict === 'unexplained')
    await resolveAs(shop, own, 'our_own_change', endedAt - MINUTE)
    await resolveAs(shop, fraud, 'fraud_or_leaked_key', endedAt - MINUTE)
    const verdicts = [own, fraud].map(action => shop.contents.actions.get(action?.action_id ?? '')?.reason)
    expect(verdicts).toEqual(['expected_change_matches', 'nothing_explains_it'])
    expect((await replay(shop, endedAt)).differences).toEqual([])
  })
})

/** Resolves the incident of an action. */
async function resolveAs(shop: Shop, action: Action | undefined, reason: ResolveReason, at: number): Promise<void> {
  const incident_id = action?.incident_id
  if (action === undefined || incident_id == null) throw new Error('There is no incident')
  const clock = createManualClock(at)
  const { publisher, reconcile } = reconcilerOf(shop, clock)
  const actor = { kind: 'person', id: 'per_ann', name: 'Ann' } as const
  await createIncidentChanger({ stores: shop.stores, reconcile, publisher, clock }).change([
    {
      kind: 'change_incident',
      command_id: `cmd_${incident_id}`,
      project_id: PROJECT,
      requested_at: new Date(at).toISOString(),
      incident_id,
      change: { kind: 'resolve', reason, note: null },
      actor,
    },
  ])
}

function reconcilerOf({ stores }: Shop, clock: Clock) {
  const parts: ReconcileParts = {
    stores,
    ledger: openMemoryBooks({ announce: async () => {} }).ledger,
    publisher: { publish: async () => ({ stuck: 0 }) },
    producer: { start: async () => {}, stop: async () => {}, send: async () => {} },
    codec: { encode: () => Buffer.alloc(0) },
    clock,
    rules: { recheckDelayMs: MINUTE },
    crashPoint: () => {},
  }
  const reconcile = async (items: readonly WorkItem[]) => void (await reconcileBatch(items, parts))
  return { publisher: parts.publisher, reconcile }
}

describe('with bodies past their retention', () => {
  test('the stored facts are judged again, and nothing differs', async () => {
    const { shop, endedAt } = await openShop(11)
    const ignored = [...shop.contents.inbox.values()].filter(({ document }) => document.outcome === 'ignored')
    shop.forgetBodies()
    const { summary, differences } = await replay(shop, endedAt)
    expect(differences).toEqual([])
    expect(summary.actions.by_basis).toMatchObject({ events: 0 })
    expect(summary.actions.by_basis.expired).toBeGreaterThan(0)
    expect(summary.events.not_replayed.body_gone).toBeGreaterThanOrEqual(ignored.length)
  })

  test('a changed setting is applied to all of them', async () => {
    const { shop, endedAt } = await openShop(11)
    shop.forgetBodies()
    const { summary } = await replay(shop, endedAt, { outOfBand: 'ignore' })
    expect(summary.alerted.stored).toBeGreaterThan(0)
    expect(summary.alerted.now).toBe(0)
  })
})

describe('with changed settings', () => {
  test('ignore removes exactly the alerts', async () => {
    const { shop, endedAt } = await openShop(21)
    const { summary, differences } = await replay(shop, endedAt, { outOfBand: 'ignore' })
    const alerted = [...shop.contents.incidents.values()].filter(({ code }) => code === 'UNEXPECTED_ACTION')
    expect(new Set(alerted.map(({ action_id }) => action_id))).toEqual(
      new Set(differences.filter(({ stored }) => stored?.alerted).map(({ action_id }) => action_id)),
    )
    expect(summary.alerted).toEqual({ stored: alerted.length, now: 0 })
    expect(differences.filter(({ now }) => now?.verdict === 'unexplained' || now?.alerted)).toEqual([])
  })

  test('alert on an account without alerts shows its missed alerts, and none of other accounts', async () => {
    const { shop, endedAt } = await openShop(22)
    const window = { from: T0 - HOUR, to: endedAt, connectionId: OLD_CARDS }
    const { summary, differences } = await replay(shop, endedAt, { window, outOfBand: 'alert' })
    expect(summary.changes).toEqual([
      { from: 'not_alerted (auto_before_first_operation)', to: 'unexplained (nothing_explains_it)', count: 3 },
    ])
    expect(differences.map(({ connection_ids }) => connection_ids)).toEqual([[OLD_CARDS], [OLD_CARDS], [OLD_CARDS]])
    expect(differences[0]).toMatchObject({
      stored: { verdict: 'not_alerted', alerted: false },
      now: { verdict: 'unexplained', alerted: true, rule: 'Nothing explains it' },
    })
  })

  test('a longer wait removes the alerts about actions that were explained meanwhile', async () => {
    const { shop, endedAt } = await openShop(23)
    const { summary } = await replay(shop, endedAt, { recheckDelayMs: 6 * MINUTE })
    expect(summary.changes).toEqual([
      { from: 'explained (amount_and_time_match), alerted first', to: 'explained (amount_and_time_match)', count: 3 },
    ])
    expect(summary.alerted.stored - summary.alerted.now).toBe(3)
  })

  test('a setting that was changed since is replayed with its current value', async () => {
    const { shop, endedAt } = await openShop(25)
    shop.changeConnection(OLD_CARDS, { out_of_band: 'alert' })
    const { summary } = await replay(shop, endedAt)
    expect(summary.actions.different).toBe(3)
  })

  test('a connection that was deleted since is replayed as active', async () => {
    const { shop, endedAt } = await openShop(26)
    for (const id of [CARDS, OLD_CARDS, PLANS]) {
      shop.changeConnection(id, { status: 'deleted', read_key: null, deleted_at: new Date(endedAt) })
    }
    const { differences } = await replay(shop, endedAt)
    expect(differences).toEqual([])
  })
})

describe('with the results of the second looks that are stored', () => {
  const tried = [CARDS, OLD_CARDS, PLANS].flatMap(connectionId =>
    (['alert', 'auto', 'ignore'] as const).map(outOfBand => ({ connectionId, outOfBand })),
  )

  test.each(tried)(
    '$outOfBand for $connectionId alerts about the same actions',
    async ({ connectionId, outOfBand }) => {
      for (const seed of [51, 52, 53]) {
        const { shop, endedAt } = await openShop(seed)
        const window = { from: T0 - HOUR, to: endedAt, connectionId }
        const { differences } = await replay(shop, endedAt, { window, outOfBand })
        const replayed = new Map(differences.map(({ action_id, now }) => [action_id, now?.alerted ?? false]))
        const judged = [...shop.contents.cases.values()]
          .flatMap(({ actions }) => actions)
          .filter(action => needsVerdict(action) && action.seenThrough.some(({ id }) => id === connectionId))
        expect(judged.length).toBeGreaterThan(0)
        for (const action of judged) {
          const connections = lastResultOf(action.look)?.connections
          const alerts = (facts = connections) => facts !== undefined && permissionToAlert(facts).kind === 'alert'
          expect(alerts(), action.id).toBe(wasAlerted(action))
          const other = connections && withOutOfBand(connections, connectionId, outOfBand)
          expect(alerts(other), action.id).toBe(replayed.get(action.id) ?? wasAlerted(action))
        }
      }
    },
  )
})

describe('of a window', () => {
  test('the parts of a history have the same sum as the whole, and each action is in one part', async () => {
    const { shop, endedAt } = await openShop(31)
    const whole = await replay(shop, endedAt, { outOfBand: 'ignore' })
    const cuts = [T0 - HOUR, T0 + HOUR / 2, T0 + HOUR, T0 + 2 * HOUR, endedAt]
    const parts = []
    for (const [index, to] of cuts.slice(1).entries()) {
      parts.push(await replay(shop, endedAt, { window: { from: cuts[index] ?? 0, to }, outOfBand: 'ignore' }))
    }
    const ids = new Set(parts.flatMap(({ differences }) => differences.map(({ action_id }) => action_id)))
    expect(ids).toEqual(new Set(whole.differences.map(({ action_id }) => action_id)))
    const events = parts.reduce((sum, { summary }) => sum + summary.events.in_window, 0)
    expect(events).toBe(whole.summary.events.in_window)
  })

  test('an older action with an event in the window is compared once', async () => {
    const { shop, endedAt } = await openShop(32)
    const old = [...shop.contents.inbox.values()].find(({ document }) => document.event_type === 'refund.created')
    if (old === undefined) throw new Error('There is no refund')
    // A late event about the same refund.
    const later = new Date(endedAt - MINUTE)
    const again = { ...old.document, _id: `${CARDS}/evt_again`, event_id: 'evt_again', received_at: later }
    shop.contents.inbox.set(again._id, { ...old, document: { ...again, processed_at: later } })
    for (const [id, theCase] of shop.contents.cases) {
      const actions = theCase.actions.map(action =>
        old.document.action_ids.includes(action.id)
          ? { ...action, eventIds: [...action.eventIds, 'evt_again'] }
          : action,
      )
      shop.contents.cases.set(id, { ...theCase, actions })
    }
    const window = { from: endedAt - 2 * MINUTE, to: endedAt }
    const { summary } = await replay(shop, endedAt, { window })
    expect(summary.actions).toMatchObject({ compared: 1, different: 0 })
    expect(summary.events.in_window).toBe(1)
  })

  test('without events is empty', async () => {
    const { shop, endedAt } = await openShop(33, 1)
    const { summary } = await replay(shop, endedAt, { window: { from: 0, to: 1 } })
    expect(summary.actions).toMatchObject({ compared: 0, different: 0 })
    expect(summary.events.in_window).toBe(0)
  })

  test('leaves out actions whose second look is pending', async () => {
    const shop = openMemoryShop()
    const endedAt = await recordShop(shop, 34, 1)
    const [id, theCase] =
      [...shop.contents.cases].find(([, { actions }]) => actions.every(({ verdict }) => verdict === 'unexplained')) ??
      []
    if (id === undefined || theCase === undefined) throw new Error('Everything is explained')
    const look = { dueAt: endedAt - 1, askedAt: null, doneAt: null }
    const pending = { verdict: 'pending', reason: 'awaiting_second_look', look }
    const actions = theCase.actions.map(action => ({ ...action, ...pending }) as ActionRecord)
    shop.contents.cases.set(id, { ...theCase, actions })
    const { summary, differences } = await replay(shop, endedAt)
    expect(differences).toEqual([])
    expect(summary.actions.undecided).toBe(actions.length)
  })
})

describe('where the rules have changed since', () => {
  test('a verdict that the rules no longer give is reported with both verdicts', async () => {
    const { shop, endedAt } = await openShop(41, 1)
    const [id, theCase] =
      [...shop.contents.cases].find(([, one]) => one.actions[0]?.reason === 'provider_ref_matches') ?? []
    if (id === undefined || theCase === undefined) throw new Error('Nothing is explained')
    const older = { verdict: 'unexplained', reason: 'nothing_explains_it', operationId: null } as const
    shop.contents.cases.set(id, {
      ...theCase,
      actions: theCase.actions.map(action => ({ ...action, ...older }) as ActionRecord),
    })
    const { differences } = await replay(shop, endedAt)
    expect(differences).toMatchObject([
      { stored: { verdict: 'unexplained' }, now: { verdict: 'explained', reason: 'provider_ref_matches' } },
    ])
  })

  test.each([
    { name: 'was ignored', seed: 42, outcome: 'ignored' as const },
    { name: 'was dead-lettered', seed: 46, outcome: 'parked' as const },
  ])('an event that $name is reported with the action that it shows by the new rules', async ({ seed, outcome }) => {
    const { shop, endedAt } = await openShop(seed, 1)
    const [id, theCase] =
      [...shop.contents.cases].find(([, one]) => one.actions[0]?.reason === 'provider_ref_matches') ?? []
    if (id === undefined || theCase === undefined) throw new Error('Nothing is explained')
    shop.contents.cases.delete(id)
    for (const action of theCase.actions) {
      shop.contents.actions.delete(action.id)
      for (const eventId of action.eventIds) shop.changeInbox(`${CARDS}/${eventId}`, { outcome, action_ids: [] })
    }
    const { summary, differences } = await replay(shop, endedAt)
    expect(differences).toMatchObject([{ stored: null, now: { verdict: 'explained' } }])
    expect(summary.changes).toEqual([{ from: 'not seen', to: 'explained (provider_ref_matches)', count: 1 }])
  })

  test('an event that the rules refuse is counted, and its action is reported as not seen', async () => {
    const { shop, endedAt } = await openShop(43, 1)
    const entry = [...shop.contents.inbox.values()].find(
      ({ document }) =>
        document.event_type === 'customer.subscription.updated' || document.event_type === 'refund.created',
    )
    if (entry === undefined) throw new Error('There is no such event')
    shop.contents.inbox.set(entry.document._id, { ...entry, body: '{"type":"refund.created","data":{}}' })
    const { summary } = await replay(shop, endedAt)
    expect(summary.events.not_replayed.refused).toBe(1)
  })

  test('a case on which the rules fail is reported, and the others are compared', async () => {
    const { shop, endedAt } = await openShop(45, 1)
    const whole = await replay(shop, endedAt)
    const [id, theCase] = [...shop.contents.cases].find(([, one]) => one.actions.length === 1) ?? []
    if (id === undefined || theCase === undefined) throw new Error('There is no such case')
    const actions = theCase.actions.map(action => ({ ...action, sides: undefined as never }))
    shop.contents.cases.set(id, { ...theCase, actions })
    const { summary } = await replay(shop, endedAt)
    expect(summary.failed).toEqual({ count: 1, first: { id, error: expect.stringContaining('TypeError') } })
    expect(summary.actions).toMatchObject({ compared: whole.summary.actions.compared - 1, different: 0 })
  })

  test('hints whose provider could not be asked are counted', async () => {
    const { shop, endedAt } = await openShop(44, 1)
    const hint = [...shop.contents.inbox.values()].find(({ document }) => document.connection_id === PLANS)
    if (hint === undefined) throw new Error('There is no hint')
    shop.changeInbox(hint.document._id, { outcome: 'held' })
    const { summary } = await replay(shop, endedAt)
    expect(summary.events.not_replayed.hint_held).toBe(1)
  })
})
