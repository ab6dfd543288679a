/**
 * Ordinary weeks of accounts, second by second, and the burst alarm that looks at them: nightly and weekly batches, software that reports before, after
 * or long after its provider, sales days, outages of the reporting software, deploys, people who refund by hand, and leaked keys.
 */
import { dayNumberOf, halfHourOf } from '../src/incident/burst-history.ts'
import {
  BURST_WINDOW_MS,
  countLate,
  decideBurst,
  LATE_AGES_MS,
  PART_MS,
  type WatchedConnection,
} from '../src/incident/burst-rule.ts'

const SECOND = 1_000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR
/** A Monday. */
const START = Date.UTC(2026, 10, 2)
const QUIET_MS = 10 * MINUTE

export type Random = () => number

/** A small generator of random numbers from 0 to 1 (mulberry32). */
export function randomFrom(seed: number): Random {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

/** One refund: when it is first seen, and for how long no operation explains it. */
interface Refund {
  readonly at: number
  /** Infinity: nothing ever explains it. */
  readonly waitMs: number
  readonly attack?: number
}

export interface Account {
  readonly name: string
  /** When its software reports: by day, and in batches. */
  readonly habits: readonly Habit[]
  readonly createdAt: number
  /** The week that is judged begins here. Before it the alarm learns. */
  readonly judgedFrom: number
  readonly until: number
  readonly refunds: readonly Refund[]
}

const pick = <T>(random: Random, list: readonly T[]): T => list[Math.floor(random() * list.length)] as T
const between = (random: Random, low: number, high: number) => low + random() * (high - low)
/** Short times are as frequent as long ones. */
const anyLength = (random: Random, low: number, high: number) => low * (high / low) ** random()

/** How long software takes until it reports a refund, by its kind. */
const WAITS = {
  /** Before it calls the provider; some reports are overtaken by the notification. */
  first: (random: Random) => (random() < 0.02 ? between(random, 50, 900) : 0),
  /** Right after the answer of the provider. */
  after: (random: Random) => Math.min(8_000, 200 * Math.exp(1.2 * normal(random))),
  /** By a job that runs later. */
  job: (random: Random) => Math.min(50_000, Math.max(1_000, 28_000 + 7_000 * normal(random))),
} as const
type Habit = keyof typeof WAITS

function normal(random: Random): number {
  return Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random())
}

interface Outage {
  readonly from: number
  readonly to: number
  /** The share of the refunds whose report waits. */
  readonly share: number
}

/** @param isNew true: its first week is judged. Otherwise two weeks come before */
export function makeAccount(seed: number, isNew: boolean): Account {
  const random = randomFrom(seed)
  const createdAt = START + between(random, 0, isNew ? DAY : 0)
  const judgedFrom = isNew ? createdAt : START + 14 * DAY
  const until = judgedFrom + 7 * DAY
  const daytime = pick<Habit>(random, ['first', 'first', 'after', 'job'])
  const batchHabit = pick<Habit>(random, [daytime, 'job'])
  const perHour = pick(random, [0.3, 5, 5, 40, 40, 300])
  const batch = pick(random, [0, 0, 80, 400, 2_000, 4_000])
  const everyDays = pick(random, [1, 1, 1, 7])
  const outages = makeOutages(random, createdAt, until)
  const refunds: Refund[] = []
  const add = (at: number, habit: Habit) => {
    if (at >= createdAt && at < until) refunds.push({ at, waitMs: waitOf(random, at, WAITS[habit](random), outages) })
  }
  const batchHour = between(random, 0, 24)
  for (let day = START - 0; day < until; day += DAY) {
    const sale = random() < 0.08 ? between(random, 4, 12) : 1
    for (let hour = 0; hour < 24; hour += 1) {
      const rate = perHour * sale * (1 + 0.9 * Math.sin(((hour - 8) / 24) * 2 * Math.PI))
      const count = Math.round(Math.max(0, rate + Math.sqrt(rate) * normal(random)))
      for (let index = 0; index < count; index += 1) add(day + (hour + random()) * HOUR, daytime)
    }
    if (((day - START) / DAY) % everyDays === 0) {
      const size = Math.round(batch * between(random, 0.6, 1.3))
      const perSecond = between(random, 5, 50)
      const begins = day + batchHour * HOUR + between(random, -2, 2) * MINUTE
      for (let index = 0; index < size; index += 1) add(begins + ((index + random()) / perSecond) * SECOND, batchHabit)
    }
    // People at work refund some payments by hand, without an operation.
    for (let index = 0; index < Math.floor(random() * 4); index += 1) {
      refunds.push({ at: Math.max(createdAt, day + between(random, 8, 18) * HOUR), waitMs: Number.POSITIVE_INFINITY })
    }
  }
  const kind = `${isNew ? 'new, ' : ''}${daytime}/${batchHabit}, ${perHour} an hour, batch of ${batch} each ${everyDays} d`
  return {
    name: `${seed}: ${kind}`,
    habits: [daytime, batchHabit],
    createdAt,
    judgedFrom,
    until,
    refunds: refunds.sort((a, b) => a.at - b.at),
  }
}

function makeOutages(random: Random, from: number, until: number): Outage[] {
  const outages: Outage[] = []
  for (let day = from; day < until; day += DAY) {
    // A deploy restarts the reporting software.
    if (random() < 0.6) outages.push(outageAt(random, day, between(random, 3, 20) * SECOND))
    if (random() < 0.3) outages.push(outageAt(random, day, anyLength(random, 5 * SECOND, 3 * HOUR)))
  }
  return outages
}

function outageAt(random: Random, day: number, lengthMs: number): Outage {
  const from = day + random() * DAY
  return { from, to: from + lengthMs, share: random() < 0.5 ? 1 : between(random, 0.3, 0.8) }
}

function waitOf(random: Random, at: number, usualMs: number, outages: readonly Outage[]): number {
  const hit = outages.find(({ from, to }) => at + usualMs >= from && at + usualMs < to)
  // After an outage the reports that waited arrive within seconds.
  return hit === undefined || random() >= hit.share ? usualMs : hit.to - at + between(random, 0, 3) * SECOND
}

export interface Attack {
  readonly at: number
  readonly perSecond: number
}

/** The account with leaked keys that refund for a minute each. */
export function withAttacks(account: Account, attacks: readonly Attack[]): Account {
  const added = attacks.flatMap(({ at, perSecond }, attack) =>
    Array.from({ length: 60 * perSecond }, (_, index) => ({
      at: at + (index / perSecond) * SECOND,
      waitMs: Number.POSITIVE_INFINITY,
      attack,
    })),
  )
  return { ...account, refunds: [...account.refunds, ...added].sort((a, b) => a.at - b.at) }
}

interface LearnedDay {
  late: Record<string, number>
  readonly busiest: Record<string, number>
  readonly waits: Record<string, number>
}

export interface Alarm {
  readonly at: number
  readonly pending: number
  /** How many of them operations explained before their second look. */
  readonly explained: number
  /** The attack that most of them belong to. */
  readonly attack: number | undefined
}

/** Looks at the account each second while refunds wait for their second look, as the reconciler does. */
export function watch({ refunds, createdAt, judgedFrom, until }: Account): Alarm[] {
  const days: Record<string, LearnedDay> = {}
  const dayAt = (at: number): LearnedDay => {
    days[dayNumberOf(at)] ??= { late: {}, busiest: {}, waits: { all: 0 } }
    return days[dayNumberOf(at)]!
  }
  const connection: WatchedConnection = {
    connection_id: 'con_1',
    out_of_band: 'alert',
    deleted: false,
    has_executed: true,
    createdAt,
    isAlarmOn: true,
    history: { days },
  }
  const alarms: Alarm[] = []
  const parts = new PartCounter(dayAt)
  let next = 0
  let from = 0
  let waiting: Refund[] = []
  let quietUntil = 0
  let open: Refund[] | null = null
  for (let now = createdAt; now < until; now += SECOND) {
    for (; next < refunds.length && refunds[next]!.at <= now; next += 1) {
      const refund = refunds[next]!
      if (refund.waitMs < BURST_WINDOW_MS) parts.add(refund.at)
      if (refund.waitMs === 0) learnWait(dayAt(now).waits, 0)
      if (refund.waitMs > 0) waiting.push(refund)
    }
    parts.record(now)
    if (waiting.some(refund => !isWaiting(refund, now))) {
      for (const refund of waiting)
        if (!isWaiting(refund, now) && refund.waitMs < BURST_WINDOW_MS) learnWait(dayAt(now).waits, refund.waitMs)
      waiting = waiting.filter(refund => isWaiting(refund, now))
    }
    if (open?.every(refund => !isWaiting(refund, now)) === true) {
      if (open.filter(({ waitMs }) => waitMs >= BURST_WINDOW_MS).length >= 10) {
        dayAt(now).late = {}
        quietUntil = now + QUIET_MS
      }
      open = null
    }
    if (waiting.length >= 5) {
      const late = countLate(
        waiting.map(({ at }) => at),
        now,
      )
      const { late: known } = dayAt(now)
      if (now >= quietUntil)
        LATE_AGES_MS.forEach((age, index) => {
          known[age] = Math.max(known[age] ?? 0, late[index] ?? 0)
        })
      if (waiting.length >= 10) {
        for (; refunds[from]!.at <= now - BURST_WINDOW_MS; from += 1);
        const pending = waiting.map(({ at }) => at)
        const decision = decideBurst(
          connection,
          pending,
          refunds.slice(from, next).map(({ at }) => at),
          now,
        )
        if (decision.answer === 'burst' && open === null && now >= quietUntil) {
          open = waiting
          if (now >= judgedFrom) alarms.push(alarmOf(waiting, now))
        } else if (decision.answer === 'burst' && open === null) quietUntil = now + QUIET_MS
      }
    } else if (waiting.length === 0) {
      // Nothing happens until the next refund.
      const after = refunds[next]?.at ?? until
      now = Math.max(now, createdAt + Math.floor((after - createdAt) / SECOND) * SECOND - SECOND)
    }
  }
  return alarms
}

function isWaiting({ at, waitMs }: Refund, now: number): boolean {
  return now < at + Math.min(waitMs, BURST_WINDOW_MS)
}

function learnWait(waits: Record<string, number>, waitMs: number): void {
  waits.all = (waits.all ?? 0) + 1
  for (const age of LATE_AGES_MS) if (waitMs > age) waits[age] = (waits[age] ?? 0) + 1
}

function alarmOf(waiting: readonly Refund[], at: number): Alarm {
  const explained = waiting.filter(({ waitMs }) => waitMs < BURST_WINDOW_MS).length
  const attacks = waiting.flatMap(({ attack }) => attack ?? [])
  return {
    at,
    pending: waiting.length,
    explained,
    attack: attacks.length * 2 >= waiting.length ? attacks[0] : undefined,
  }
}

/** Counts explained refunds by parts of ten seconds, and keeps the busiest of each hour when their second looks are over. */
class PartCounter {
  readonly #counts = new Map<number, number>()
  readonly #dayAt: (at: number) => LearnedDay

  constructor(dayAt: (at: number) => LearnedDay) {
    this.#dayAt = dayAt
  }

  add(at: number): void {
    const part = Math.floor(at / PART_MS)
    this.#counts.set(part, (this.#counts.get(part) ?? 0) + 1)
  }

  record(now: number): void {
    for (const [part, count] of this.#counts) {
      const at = part * PART_MS
      if (at + PART_MS + BURST_WINDOW_MS > now) return
      this.#counts.delete(part)
      const { busiest } = this.#dayAt(at)
      busiest[halfHourOf(at)] = Math.max(busiest[halfHourOf(at)] ?? 0, count)
    }
  }
}

/** When the tenth refund of an attack is seen. */
export function tenthOf({ at, perSecond }: Attack): number {
  return at + (9 / perSecond) * SECOND
}
