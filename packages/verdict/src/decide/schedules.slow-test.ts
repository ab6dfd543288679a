/**
 * Random histories of a subscription that schedules of the card processor manage, with their events in random order.
 * The verdicts must match what was done at the processor. The histories run on the simulated account. The expected ends
 * are recorded while they run, by the rules of the processor's documentation, without the code under test.
 */
import { PROVIDERS } from '@backstop/providers'
import { type CardProcessor, createCardProcessor, createChance } from '@backstop/simulator'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { CONNECTION, lookAll, MINUTE, operationSeen, PROJECT, play, SECOND, sourceOf, T0 } from '../../test/fixtures.ts'
import { propertySettings } from '../../test/searches.ts'
import type { Case, SightingSource } from '../case/case.ts'
import type { Input } from './decide.ts'

const RUNS = 800
const DAY = 86_400_000
/** Longer than any time span in which an operation explains an action that it does not name. */
const STEP_MS = 20 * MINUTE

const ACTS = [
  'attach a schedule that cancels',
  'attach a schedule that releases',
  'let the schedule cancel',
  'let the schedule release',
  'bring the schedule forward',
  'put the schedule off',
  'expect something',
  'release the schedule',
  'set an end',
  'take the end back',
  'cancel',
  'cancel the schedule',
  'fail to collect',
  'come to the end of the period',
] as const

const histories = fc.record({
  steps: fc.array(
    fc.record({
      act: fc.constantFrom(...ACTS),
      isOurs: fc.boolean(),
      named: fc.constantFrom('subscription', 'schedule', 'key'),
      isRead: fc.nat(2).map(digit => digit === 0),
      isLost: fc.nat(3).map(digit => digit === 0),
    }),
    { minLength: 1, maxLength: 7 },
  ),
})
type History = typeof histories extends fc.Arbitrary<infer Value> ? Value : never

interface CourseInput {
  readonly kind: 'event of the schedule' | 'event of the subscription' | 'reading' | 'operation'
  readonly step: number
  readonly input: Input
}

/** An end of the subscription, requested by somebody or made by the processor. */
interface TrueEnd {
  readonly at: number
  readonly by: string | null
  readonly isItself: boolean
}

/** A history of the account, and its expected ends. */
interface ScheduleCourse {
  readonly inputs: readonly CourseInput[]
  readonly ends: readonly TrueEnd[]
  /** True if the subscription has ended or is scheduled to end after the history. */
  readonly isEnding: boolean
  /** The baseline of a connection that is made after the history. */
  readonly baseline: { readonly at: number; readonly inputs: readonly CourseInput[] }
}

function runThrough({ steps }: History): ScheduleCourse {
  let now = T0
  const account = createCardProcessor({ now: () => now, chance: createChance(5) })
  const { id } = account.subscribe({ amount: 4_999, currency: 'eur' }).subscription
  const inputs: CourseInput[] = []
  const ends: TrueEnd[] = []
  /** When the subscription is scheduled to end; null if it is not. */
  let end: number | null = null
  let isOver = false
  let eventsShown = account.events().length
  const stored = () => account.asOf(now).subscriptions.get(id)
  inputs.push(...rereadInputs(account, id, now - SECOND, 0))

  steps.forEach(({ act, isOurs, named, isRead }, step) => {
    now += STEP_MS
    const key = `key_${step}`
    const scheduleId = stored()?.schedule as string | null
    const schedule = scheduleId === null ? undefined : account.asOf(now).schedules.get(scheduleId)
    const periodEnd = (stored()?.items.data[0]?.current_period_end ?? 0) * 1000
    const phaseEnd = (schedule?.phases.at(-1)?.end_date ?? 0) * 1000
    const caller = { idempotencyKey: key }
    const begins = (at: number, isItself = false) => {
      ends.push({ at, by: isOurs && !isItself ? `op_${step}` : null, isItself })
    }
    const done = (): boolean => {
      if (isOver) return false
      switch (act) {
        case 'attach a schedule that cancels':
        case 'attach a schedule that releases': {
          if (schedule !== undefined || end !== null) return false
          if (act === 'attach a schedule that releases') return account.scheduleByObject(id, caller) !== undefined
          account.scheduleCancelByObject(id, caller)
          begins(now)
          end = periodEnd
          return true
        }
        case 'let the schedule cancel':
          if (schedule === undefined || end !== null) return false
          account.changeSchedule(schedule.id, { ...caller, endBehavior: 'cancel' })
          begins(now)
          end = phaseEnd
          return true
        case 'let the schedule release':
          if (schedule === undefined || end === null) return false
          account.changeSchedule(schedule.id, { ...caller, endBehavior: 'release' })
          end = null
          return true
        case 'bring the schedule forward':
        case 'put the schedule off': {
          if (schedule === undefined) return false
          const isForward = act === 'bring the schedule forward'
          const to = phaseEnd + (isForward ? -2 : 2) * DAY
          if (to <= now + DAY) return false
          account.changeSchedule(schedule.id, { ...caller, endsAtMs: to })
          if (end !== null && isForward) begins(now)
          end = end === null ? null : to
          return true
        }
        case 'expect something':
          account.change(id, { ...caller, metadata: { step: String(step) } })
          if (schedule !== undefined)
            account.changeSchedule(schedule.id, { ...caller, metadata: { step: String(step) } })
          return true
        case 'release the schedule':
          if (schedule === undefined) return false
          account.releaseSchedule(schedule.id, caller)
          end = null
          return true
        case 'set an end':
          if (schedule !== undefined || end !== null) return false
          account.scheduleCancel(id, { ...caller, by: step % 2 === 0 ? 'flag' : 'cancel_at' })
          begins(now)
          end = periodEnd
          return true
        case 'take the end back':
          if (schedule !== undefined || end === null) return false
          account.unschedule(id, caller)
          end = null
          return true
        case 'cancel':
        case 'cancel the schedule':
          if (act === 'cancel the schedule' && schedule === undefined) return false
          if (act === 'cancel') account.cancel(id, caller)
          else account.cancelSchedule(String(scheduleId), caller)
          begins(now)
          isOver = true
          return true
        case 'fail to collect':
          account.missPayment(id)
          account.endDunning(id)
          begins(now, true)
          isOver = true
          return true
        case 'come to the end of the period':
          now = Math.max(now, end ?? (schedule === undefined ? periodEnd : phaseEnd))
          account.endPeriod(id)
          isOver = end !== null
          return true
        default:
          return act satisfies never
      }
    }
    const isDone = done()
    const events = account.events().slice(eventsShown)
    eventsShown = account.events().length
    for (const event of events.filter(({ type }) => /^(customer\.subscription|subscription_schedule)\./.test(type))) {
      const origin = { projectId: PROJECT, connectionId: CONNECTION, eventId: event.id, eventType: event.type }
      const kind = event.type.startsWith('subscription_schedule')
        ? 'event of the schedule'
        : 'event of the subscription'
      const meaning = PROVIDERS.processor.normaliseEvent(origin, { ...event })
      inputs.push(...inputsOf(meaning, event.id).map(input => ({ kind, step, input }) as const))
    }
    // The processor's own end has no operation, even if one was attempted at the same time.
    if (isOurs && isDone && act !== 'fail to collect')
      inputs.push({ kind: 'operation', step, input: operationOf(step, now, named, id, scheduleId, key) })
    if (isRead) inputs.push(...rereadInputs(account, id, now + 5 * MINUTE, step))
  })
  inputs.push(...rereadInputs(account, id, now + 10 * MINUTE, steps.length))
  const at = now + 30 * MINUTE
  const baseline = { at, inputs: rereadInputs(account, id, at, steps.length, 'baseline') }
  return { inputs, ends, isEnding: isOver || end !== null, baseline }
}

function inputsOf(
  meaning: ReturnType<typeof PROVIDERS.processor.normaliseEvent>,
  eventId: string | null,
  readFor: 'sweep' | 'baseline' = 'sweep',
): Extract<Input, { kind: 'sighting' }>[] {
  const sightings = meaning.kind === 'observed' ? meaning.sightings : []
  const source = sourceOf(eventId ?? '', 'told', eventId === null ? { eventId: null, readFor } : {})
  return sightings.map(sighting => ({ kind: 'sighting', sighting, source }) as const)
}

/** The sightings of a re-read: the subscription, and its schedule two seconds later. */
function rereadInputs(
  account: CardProcessor,
  id: string,
  at: number,
  step: number,
  readFor: 'sweep' | 'baseline' = 'sweep',
): CourseInput[] {
  const subscription = account.asOf(at).subscriptions.get(id)
  const scheduleAt = at + 2 * SECOND
  const schedule = account.asOf(scheduleAt).schedules.get(String(subscription?.schedule))
  return [
    { object: subscription, readAt: at },
    { object: schedule, readAt: scheduleAt },
  ].flatMap(({ object, readAt }) => {
    if (object === undefined) return []
    const origin = { projectId: PROJECT, connectionId: CONNECTION, site: null, readAt }
    const meaning = PROVIDERS.processor.normaliseObject(origin, object.object, { ...object })
    return inputsOf(meaning, null, readFor).map(input => ({ kind: 'reading', step, input }) as const)
  })
}

function operationOf(
  step: number,
  at: number,
  named: string,
  id: string,
  scheduleId: string | null,
  key: string,
): Input {
  const names = {
    subscription: { subject: id },
    schedule: { subject: scheduleId ?? id },
    key: { subject: id, idempotency_key: key },
  }
  return operationSeen({
    operation_id: `op_${step}`,
    kind: 'cancellation',
    amount: null,
    currency: null,
    executing_at: new Date(at - SECOND).toISOString(),
    ended_at: new Date(at + SECOND).toISOString(),
    ...names[named as keyof typeof names],
  })
}

const playAll = (inputs: readonly CourseInput[]): Case =>
  lookAll(play(inputs.map(({ input }) => ({ at: T0 + 400 * DAY, input }))))
const cancellationsIn = (theCase: Case) => theCase.actions.filter(({ kind }) => kind === 'cancellation')

/** The inputs in random order, some of them twice. */
function shuffled(inputs: readonly CourseInput[], seed: number): CourseInput[] {
  const chance = createChance(seed)
  return [...inputs, ...inputs.filter(() => chance.next() < 0.2)]
    .map(one => ({ one, at: chance.next() }))
    .sort((a, b) => a.at - b.at)
    .map(({ one }) => one)
}

/** The inputs without operations and lost events, and with the first and the last reading only. */
function arrivedOf({ inputs }: ScheduleCourse, { steps }: History, seed: number): CourseInput[] {
  const last = inputs.at(-1)?.step
  return shuffled(inputs, seed).filter(({ kind, step }) => {
    if (kind === 'operation') return false
    return kind === 'reading' ? step === last || step === 0 : !steps[step]?.isLost
  })
}

function openIn(cancellations: Case['actions']): Case['actions'] {
  return cancellations.filter(({ state }) => state === 'scheduled' || state === 'succeeded')
}

function withConnectionOf(given: CourseInput, connection: SightingSource['connection']): CourseInput {
  const { input } = given
  return input.kind === 'sighting' ? { ...given, input: { ...input, source: { ...input.source, connection } } } : given
}

describe('the ends of a subscription that schedules manage', () => {
  test('are judged by the true history, in any order and with repeats', { retry: 0 }, () => {
    const property = fc.property(histories, fc.nat(), (history, seed) => {
      const course = runThrough(history)
      const shown = cancellationsIn(playAll(shuffled(course.inputs, seed)))
        .map(({ providerCreatedAt, verdict, reason, operationId }) => {
          const how = reason === 'involuntary_end' ? 'by itself' : verdict
          return `${(providerCreatedAt - T0) / MINUTE} ${how} ${operationId}`
        })
        .sort()
      const expected = course.ends.map(({ at, by, isItself }) => {
        const how = isItself ? 'by itself' : by === null ? 'unexplained' : 'explained'
        return `${(at - T0) / MINUTE} ${how} ${by}`
      })
      expect(shown).toEqual(expected.sort())
    })
    fc.assert(property, propertySettings(RUNS))
  })

  test('are all found by re-reads, without any event of a schedule', { retry: 0 }, () => {
    const property = fc.property(histories, ({ steps }) => {
      const course = runThrough({ steps: steps.map(step => ({ ...step, isRead: true, isOurs: false })) })
      const theCase = playAll(course.inputs.filter(({ kind }) => kind !== 'event of the schedule'))
      expect(cancellationsIn(theCase).map(({ verdict }) => verdict)).toEqual(
        course.ends.map(({ isItself }) => (isItself ? 'not_alerted' : 'unexplained')),
      )
    })
    fc.assert(property, propertySettings(RUNS))
  })

  test('are neither hidden nor doubled by lost events, and the last one is always found', { retry: 0 }, () => {
    const property = fc.property(histories, fc.nat(), (history, seed) => {
      const course = runThrough(history)
      const cancellations = cancellationsIn(playAll(arrivedOf(course, history, seed)))
      const open = openIn(cancellations)
      expect(open).toHaveLength(course.isEnding ? 1 : 0)
      expect(cancellations.length).toBeLessThanOrEqual(course.ends.length)
      if (course.ends.at(-1)?.isItself === false) expect(open.map(({ verdict }) => verdict)).not.toContain('explained')
    })
    fc.assert(property, propertySettings(RUNS))
  })

  test('are explained by operations that name the subscription, although events are lost', { retry: 0 }, () => {
    const property = fc.property(histories, fc.nat(), (history, seed) => {
      const steps = history.steps.map(step => ({ ...step, isOurs: true, named: 'subscription' as const }))
      const course = runThrough({ steps })
      fc.pre(course.isEnding && course.ends.every(({ by }) => by !== null))
      const operations = course.inputs.filter(({ kind }) => kind === 'operation')
      const open = openIn(cancellationsIn(playAll([...operations, ...arrivedOf(course, history, seed)])))
      expect(open.map(({ verdict }) => verdict)).toEqual(['explained'])
    })
    fc.assert(property, propertySettings(RUNS))
  })

  test('do not alert if they were requested before the connection was made', { retry: 0 }, () => {
    const property = fc.property(histories, history => {
      const { baseline } = runThrough(history)
      const connection = { id: CONNECTION, createdAt: baseline.at }
      const inputs = baseline.inputs.map(one => withConnectionOf(one, connection))
      expect(cancellationsIn(playAll(inputs)).map(({ verdict }) => verdict)).not.toContain('unexplained')
    })
    fc.assert(property, propertySettings(RUNS))
  })
})
