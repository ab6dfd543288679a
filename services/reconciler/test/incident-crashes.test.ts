/** A process that changes an incident stops between two steps; the command is delivered again. */
import type { Alert, Command } from '@backstop/contracts'
import { objectReference } from '@backstop/contracts'
import { createManualClock } from '@backstop/kit/test'
import { openMemoryBooks } from '@backstop/ledger/test'
import { MINUTE, PROJECT, refundShown, SECOND, sourceOf, T0 } from '@backstop/verdict/test'
import { expect, test } from 'vitest'
import { type ReconcileParts, reconcileBatch } from '../src/batch/reconcile-batch.ts'
import type { WorkItem } from '../src/batch/work-item.ts'
import { createIncidentChanger } from '../src/commands/change-incidents.ts'
import { connectionOf } from './connection-of.ts'
import { CRASH_POINTS, withCrashPoints } from './crash-points.ts'
import { createMemoryStores } from './memory-stores/memory-store.ts'

class Crash extends Error {}

const POINTS = [...CRASH_POINTS, 'after the publication'] as const

async function withIncident() {
  const clock = createManualClock(T0 + SECOND)
  const stores = createMemoryStores()
  stores.contents.connections.set('con_a', connectionOf('con_a', {}))
  let crashAt: string | undefined
  const pass = (point: string) => {
    if (point !== crashAt) return
    crashAt = undefined
    throw new Crash(point)
  }
  const sent: Alert[] = []
  const parts: ReconcileParts = {
    stores,
    ledger: openMemoryBooks({ announce: () => {} }).ledger,
    publisher: {
      async publish(outboxes) {
        for (const { documentId, entries } of outboxes) {
          for (const { topic, message } of entries) if (topic === 'alerts') sent.push(message as Alert)
          // The process stops after Kafka has the messages and before they are removed from the outbox.
          pass('after the publication')
          await stores.cases.outbox.published([{ documentId, entryIds: entries.map(({ id }) => id) }])
        }
        return { stuck: 0 }
      },
    },
    producer: { start: async () => {}, stop: async () => {}, send: async () => {} },
    codec: { encode: () => Buffer.alloc(0) },
    clock,
    rules: { recheckDelayMs: MINUTE },
  }
  const reconcile = async (items: readonly WorkItem[]) =>
    void (await reconcileBatch(items, withCrashPoints(parts, pass)))
  const sighting = refundShown({ providerRef: 're_1', about: ['pi_1'], createdAt: T0 })
  const connection = { id: 'con_a', createdAt: T0 - MINUTE }
  await reconcile([
    { kind: 'sighting', projectId: PROJECT, sighting, source: sourceOf('evt_1', 'refund.created', { connection }) },
  ])
  await clock.advance(MINUTE)
  const [action] = [...stores.contents.cases.values()].flatMap(({ actions }) => actions)
  const ref = objectReference(PROJECT, 'processor', undefined, 're_1')
  const due_at = new Date(action?.look?.dueAt ?? 0).toISOString()
  await reconcile([{ kind: 'recheck', recheck: { project_id: PROJECT, ref, look_id: action?.id ?? '', due_at } }])
  const changer = createIncidentChanger({ stores, reconcile, publisher: parts.publisher, clock })
  const command = (id: string, change: Extract<Command, { kind: 'change_incident' }>['change']) =>
    ({
      kind: 'change_incident',
      command_id: id,
      project_id: PROJECT,
      requested_at: new Date(clock.now()).toISOString(),
      incident_id: [...stores.contents.incidents.keys()][0] ?? '',
      change,
      actor: { kind: 'person', id: 'per_ann', name: 'Ann' },
    }) as const
  return {
    contents: stores.contents,
    sent,
    changer,
    command,
    crash: (at: string) => {
      crashAt = at
    },
  }
}

test.each(POINTS)('a change of an incident happens once, after a crash %s', async point => {
  const { contents, sent, changer, command, crash } = await withIncident()
  const commands = [
    command('c1', { kind: 'acknowledge' }),
    command('c2', { kind: 'resolve', reason: 'other', note: 'Ticket 7' }),
    command('c3', { kind: 'acknowledge' }),
  ]
  crash(point)
  await expect(changer.change(commands)).rejects.toThrow(Crash)
  await changer.change(commands)
  await changer.change(commands)
  const outcomes = ['c1', 'c2', 'c3'].map(id => contents.incidentOutcomes.get(id)?.outcome)
  expect(outcomes).toEqual(['changed', 'changed', 'refused'])
  const [incident] = [...contents.incidents.values()]
  expect(incident).toMatchObject({ state: 'resolved', resolved_by: 'Ann', note: 'Ticket 7' })
  expect(incident?.changes?.map(({ command_id }) => command_id)).toEqual(['c1', 'c2'])
  // A message that is published twice has the same id, so it is delivered once.
  const once = [...new Map(sent.map(alert => [alert.alert_id, alert.event])).values()]
  expect(once).toEqual(['incident.opened', 'incident.acknowledged', 'incident.resolved'])
})

test.each(POINTS)('our own change is explained by its expected change, after a crash %s', async point => {
  const { contents, changer, command, crash } = await withIncident()
  const own = command('c1', { kind: 'resolve', reason: 'our_own_change', note: null })
  crash(point)
  await changer.change([own]).catch(() => {})
  await changer.change([own])
  expect([...contents.actions.values()]).toMatchObject([{ verdict: 'explained', reason: 'expected_change_matches' }])
  expect([...contents.incidents.values()]).toMatchObject([{ state: 'resolved', reason: 'our_own_change' }])
  expect(contents.expectedChanges).toHaveLength(1)
})
